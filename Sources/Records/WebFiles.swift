import CivilTime
package import Decision
import Files
import Pages

/// The files of a service that a web server sends: `page.html`; `problem.json` while the gate is closed; `sunset`
/// while the service counts down.
///
/// A file is written only if its bytes differ from what is there: most records change a page in nothing.
struct WebFiles {
    /// The name, the bytes, and the modification time if it means something.
    typealias File = (name: String, bytes: [UInt8], modified: Int64?)

    /// In the order of writing.
    private(set) var present: [File]
    /// The names of the others, which have no content now.
    private(set) var absent: [String] = []

    /// The names of all of them.
    static let names = [FileName.page, FileName.problem, FileName.sunset]

    /// The files that say what the record says.
    init(_ page: Page, of record: Record, for service: Service) {
        present = [(FileName.page, page.bytes(of: record, for: service), nil)]
        if let problem = page.problem(of: record, for: service) {
            present.append((FileName.problem, problem, nil))
        } else {
            absent.append(FileName.problem)
        }
        if let sunset = Page.sunset(of: record) {
            // nginx reads no file into a header, but it knows the time of a file.
            let time = sunset.end.seconds * 1_000_000
            present.append((FileName.sunset, Array(sunset.text.utf8), time))
        } else {
            absent.append(FileName.sunset)
        }
    }

    /// Whether a service with this verdict has a file of this name; true for files that are no concern of a web server.
    static func isExpected(_ name: String, with verdict: Verdict) -> Bool {
        switch name {
        case FileName.problem: verdict.gate == .closed
        case FileName.sunset: verdict.state == .countdown && verdict.endsAt != nil
        default: true
        }
    }

    /// Whether the file at this path has these bytes.
    static func holds(_ path: String, _ bytes: [UInt8]) -> Bool {
        do {
            // Most pages that differ differ in their length.
            return try Files.File.attributes(of: path).size == bytes.count
                && Files.File.read(path, limit: bytes.count) == bytes
        } catch {
            return false
        }
    }
}

extension RuntimeDirectory {
    /// Whether a service with this verdict has a file of this name. `problem.json` and `sunset` come and go.
    package static func expects(_ name: String, with verdict: Verdict) -> Bool {
        WebFiles.isExpected(name, with: verdict)
    }
}
