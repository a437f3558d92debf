import Decision
import JSON
import Signing

/// Reads a watch of etcd's gateway: a line for each message, an object with a `result` or an `error`.
///
/// Of a change only the key is read: a poll fetches the flags. A watch can be cancelled while its
/// connection stays open: its revision is compacted, or the user may not read the keys.
package struct WatchParser: StreamParser {
    /// The longest line that is parsed, in bytes. A longer one is a hint: only changed keys need so much.
    package static let lineLimit = 64 << 10

    private var lines = LineSplitter(limit: lineLimit)
    private let isRead: (_ key: [UInt8]) -> Bool

    /// Makes the parser of one connection. `isRead` says whether the change of a key is a hint; it is called from
    /// within libcurl.
    package init(_ isRead: @escaping (_ key: [UInt8]) -> Bool) { self.isRead = isRead }

    /// Reads the lines that these bytes complete.
    package mutating func parse(_ bytes: [UInt8], _ update: inout StreamUpdate) {
        for line in lines.split(bytes) { read(line, &update) }
    }

    /// Reads the last line, which has no end when the server goes down.
    package mutating func finish(_ update: inout StreamUpdate) {
        for line in lines.finish() { read(line, &update) }
    }

    private func read(_ line: LineSplitter.Line, _ update: inout StreamUpdate) {
        guard let bytes = line else {
            update.isHint = true
            return
        }
        if bytes.isEmpty { return }
        guard
            case .success(.object(let message)) = Result(catching: { try JSON.Value.parse(bytes) })
        else {
            update.failure = Failure(.invalid, "watch: a line is not a JSON object")
            return
        }
        if let error = message["error"] {
            update.failure = Self.failure(error.object?["message"]?.string ?? "")
        } else if let result = message["result"]?.object {
            read(result, &update)
        } else {
            update.failure = Failure(.invalid, "watch: a line is not as etcd writes it")
        }
    }

    private func read(_ result: JSON.Object, _ update: inout StreamUpdate) {
        if let events = result["events"], isHint(events) { update.isHint = true }
        guard result["canceled"]?.bool == true else { return }
        update.failure =
            if result["compact_revision"] != nil {
                Failure(.unreachable, "watch: the changes since the last poll are compacted")
            } else {
                Self.failure(result["cancel_reason"]?.string ?? "")
            }
    }

    /// Whether one of the events is a hint. An event that is not as etcd writes it may concern any key.
    private func isHint(_ events: JSON.Value) -> Bool {
        guard let events = events.array else { return true }
        return events.contains { event in
            let key = event.object?["kv"]?.object?["key"]?.string.flatMap(Base64.bytes)
            return key.map(isRead) ?? true
        }
    }

    /// Only known sentences of etcd get into the failure: other text of the server is untrusted.
    private static func failure(_ sentence: String) -> Failure {
        if sentence.contains(exactly: "permission denied") {
            return Failure(.refused, "watch: permission denied")
        }
        for known in ["no leader", "invalid auth token", "user name is empty"]
        where sentence.contains(exactly: known) {
            return Failure(.unreachable, "watch: \(known)")
        }
        return Failure(.unreachable, "watch: the server has ended it")
    }
}
