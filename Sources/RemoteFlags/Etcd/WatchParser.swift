import Decision
import JSON

/// Reads a watch of etcd's gateway: a line for each message, an object with a `result` or an `error`.
///
/// What changed is not read from it: that is asked for. A watch can be over while its connection stays
/// open: cancelled because what it wants is compacted, or because it may not.
package struct WatchParser: StreamParser {
    /// The longest line that is looked into. A longer one can only be of keys that changed, since
    /// nothing else has so much to say.
    package static let lineLimit = 64 << 10

    private var lines = LineSplitter(limit: lineLimit)

    package init() {}

    package mutating func take(_ bytes: [UInt8], _ news: inout StreamNews) {
        lines.take(bytes) { Self.read($0, &news) }
    }

    /// The last line of a server that goes down has no end.
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

    /// The sentences of etcd are known, and matched: what else a server says is not passed on.
    private static func failure(_ said: String) -> Failure {
        if said.contains(exactly: "permission denied") {
            return Failure(.refused, "watch: permission denied")
        }
        for known in ["no leader", "invalid auth token", "user name is empty"]
        where said.contains(exactly: known) {
            return Failure(.unreachable, "watch: \(known)")
        }
        return Failure(.unreachable, "watch: the server has ended it")
    }
}
