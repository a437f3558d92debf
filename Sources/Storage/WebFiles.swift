import CivilTime
package import Decision
package import Files
package import Pages

/// The files of a service for a web server: `page.html`; `problem.json`, `retry-after` and `unavailable` while people
/// should see the page; `sunset` while the service counts down.
///
/// `unavailable` is there while the gate is closed, and while it opens and its units are not up yet. It is on disk
/// alone, so that a daemon that was killed during an opening does not let people in too early.
///
/// A file is written only if its bytes differ from what is there: most records change a page in nothing.
struct WebFiles {
    /// The name, the bytes, and the modification time if it means something.
    typealias File = (name: String, bytes: [UInt8], modified: Int64?)

    /// In the order of writing.
    private(set) var present: [File]
    /// The names of the others, which have no content now.
    private(set) var absent: [String] = []

    static let names = [
        FileName.page, FileName.problem, FileName.retryAfter, FileName.sunset, FileName.unavailable,
    ]

    /// The files that say what the record says. `isStarting`: the gate opens, and its units are not up yet.
    init(_ page: Page, of record: PublishedVerdict, for service: Service, isStarting: Bool) {
        let problem = page.problem(of: record, for: service, isStarting: isStarting)
        present = [
            (FileName.page, page.bytes(of: record, for: service, isStarting: isStarting), nil)
        ]
        add(FileName.problem, problem)
        add(FileName.retryAfter, Page.retryAfter(of: record, isStarting: isStarting))
        let sunset = Page.sunset(of: record)
        // nginx reads no file into a header, but it knows the time of a file.
        let time = sunset.map { $0.end.seconds * 1_000_000 }
        add(FileName.sunset, sunset.map { Array($0.text.utf8) }, modified: time)
        // The last of them: who sees it finds the others.
        if record.verdict.gate == .closed { present.append((FileName.unavailable, [], nil)) }
    }

    private mutating func add(_ name: String, _ bytes: [UInt8]?, modified: Int64? = nil) {
        if let bytes { present.append((name, bytes, modified)) } else { absent.append(name) }
    }

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
    /// Makes or removes `unavailable` of a service whose gate is open by decision, and has the page say the same. Does
    /// nothing for another gate.
    package func publish(
        isUnavailable: Bool, _ record: PublishedVerdict, of service: Service, page: Page
    ) throws(FileError) {
        let folder = "\(path)/\(service.name)"
        let marker = "\(folder)/\(FileName.unavailable)"
        guard record.verdict.gate == .open, try File.exists(marker) != isUnavailable else { return }
        // A web server that has seen no marker any more sends no page.
        if !isUnavailable { try remove(marker) }
        let web = WebFiles(page, of: record, for: service, isStarting: isUnavailable)
        for file in web.present { try replace(file, in: folder, isOftenSame: true) }
        if isUnavailable { try replace((FileName.unavailable, [], nil), in: folder) }
        for name in web.absent { try remove("\(folder)/\(name)") }
    }

    /// Removes `unavailable` of a service in the directory at `path`, for a host without a daemon.
    package static func removeUnavailable(
        of service: ServiceName, in path: String
    ) throws(FileError) {
        try File.remove("\(path)/\(service)/\(FileName.unavailable)")
    }
}
