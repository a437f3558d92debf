import Decision
import JSON

/// Reads a watch of etcd's gateway: a line for each message, an object with a `result` or an `error`.
///
/// The changes themselves are not read: a poll fetches them. A watch can be cancelled while its connection
/// stays open: its revision is compacted, or the user may not read the keys.
package struct WatchParser: StreamParser {
    /// The longest line that is parsed, in bytes. A longer line is a hint: only changed keys need
    /// so much space.
    package static let lineLimit = 64 << 10

    private var lines = LineSplitter(limit: lineLimit)

    /// Makes the parser of one connection.
    package init() {}

    /// Reads the lines that these bytes complete.
    package mutating func take(_ bytes: [UInt8], _ news: inout StreamNews) {
        for line in lines.take(bytes) { Self.read(line, &news) }
    }

    /// Reads the last line, which has no end when the server goes down.
    package mutating func finish(_ news: inout StreamNews) {
        if let line = lines.finish() { Self.read(line, &news) }
    }

    private static func read(_ line: LineSplitter.Line, _ news: inout StreamNews) {
        switch line {
        case .overlong: news.isHint = true
        case .whole([]): break
        case .whole(let bytes): read(bytes, &news)
        }
    }

    private static func read(_ line: [UInt8], _ news: inout StreamNews) {
        guard case .success(let value) = Result(catching: { try JSON.Value.parse(line) }),
            let message = value.object
        else {
            news.failure = Failure(.invalid, "watch: a line is no JSON object")
            return
        }
        if let error = message["error"] {
            news.failure = failure(error.object?["message"]?.string ?? "")
        } else if let result = message["result"]?.object {
            read(result, &news)
        } else {
            news.failure = Failure(.invalid, "watch: a line is not as etcd writes it")
        }
    }

    private static func read(_ result: JSON.Object, _ news: inout StreamNews) {
        if result["events"] != nil { news.isHint = true }
        guard result["canceled"]?.bool == true else { return }
        news.failure =
            if result["compact_revision"] != nil {
                Failure(.unreachable, "watch: the changes since the last poll are compacted")
            } else {
                failure(result["cancel_reason"]?.string ?? "")
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
