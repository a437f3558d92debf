import Files
import Glibc
package import Testing

/// A transcript is a file of data that says what a machine does:
///
///     # What the machine should do, and why.
///     start = "2027-03-01T12:00:00Z"
///     ---
///     0s started
///         fetch app
///     # A comment stays where it is.
///     0.5s app unchanged
///
/// Its name is a sentence about behaviour. The head is TOML, and each kind of transcript has its own reader of it.
/// After `---` come the steps: a time in seconds with an event, and the effects of the event below it, indented by
/// four spaces.
///
/// A test plays the events and compares the effects. With `UPDATE=1` in the environment it writes them anew instead,
/// for a reviewer to read the difference.
package struct TranscriptFile: Sendable, CustomTestStringConvertible {
    package let path: String

    package var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The transcripts in this folder of `Tests/` and in the folders below it.
    package static func all(in folder: String) -> [TranscriptFile] {
        let root = Programs.project + "/Tests/" + folder
        let paths = paths(in: root).sorted()
        precondition(!paths.isEmpty, "no transcript in '\(root)'")
        return paths.map { TranscriptFile(path: $0) }
    }

    private static func paths(in folder: String) -> [String] {
        guard let names = readable({ try Directory.list(folder) }) else { return [] }
        return names.flatMap { name in
            name.hasSuffix(".transcript") ? ["\(folder)/\(name)"] : paths(in: "\(folder)/\(name)")
        }
    }

    /// Plays all events to a new `World` and compares what it does.
    package func play<World: TranscribedWorld>(
        _: World.Type, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = String(decoding: try File.read(path, limit: 1 << 20), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let end = lines.firstIndex(of: "---") else {
            throw TestFailure("\(path): no line '---' after the head")
        }
        var world: World
        do { world = try World(head: lines[..<end].joined(separator: "\n")) } catch {
            throw TestFailure("\(path): \(error)")
        }
        var played = Array(lines[...end])
        for (number, line) in lines.enumerated().dropFirst(end + 1) {
            if line.hasPrefix("    ") { continue }
            played.append(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            do {
                let (seconds, event) = try Self.step(line)
                played += try world.play(event, at: seconds).map { "    \($0)" }
            } catch {
                throw TestFailure("\(path):\(number + 1): \(error)")
            }
        }
        let difference = played.difference(from: lines)
        if Self.isUpdating, !difference.isEmpty {
            try File.replace(path, with: Array(played.joined(separator: "\n").utf8))
        } else if !difference.isEmpty {
            Issue.record("\(Self.text(of: difference, at: path))", sourceLocation: sourceLocation)
        }
    }

    private static func text(of difference: CollectionDifference<String>, at path: String) -> String
    {
        let lines: [(offset: Int, text: String)] = difference.map { change in
            switch change {
            case .remove(let offset, let line, _): (offset, "the file has     \(line)")
            case .insert(let offset, let line, _): (offset, "the machine does \(line)")
            }
        }
        return lines.sorted { $0.offset < $1.offset }
            .map { "\(path):\($0.offset + 1): \($0.text)" }.joined(separator: "\n")
    }

    package static let isUpdating =
        unsafe getenv("UPDATE").map { unsafe String(cString: $0) } == "1"

    private static func step(_ line: String) throws -> (Double, String) {
        guard let end = line.firstIndex(of: " "), line[..<end].hasSuffix("s"),
            let seconds = Double(line[..<end].dropLast())
        else { throw TestFailure("'\(line)' does not begin with a time in seconds") }
        return (seconds, String(line[line.index(after: end)...]))
    }
}

/// What a transcript is played to.
package protocol TranscribedWorld {
    /// The world as the head of a transcript describes it.
    init(head: String) throws

    /// Sends one event at this time since the start. Returns the effects, a line each, in their order.
    mutating func play(_ event: String, at seconds: Double) throws -> [String]
}
