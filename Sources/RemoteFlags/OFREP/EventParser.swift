import Decision
import JSON
package import Transfer

/// Reads server-sent events (WHATWG HTML §9.2.6): those that say that flags are to be fetched again.
package struct EventParser: StreamParser {
    /// The longest line, and the longest data of an event, that are looked into.
    package static let limit = 64 << 10

    private let memory: EventMemory
    private var lines = LineSplitter(limit: limit)
    private var data: [UInt8] = []
    private var isOverlong = false
    private var isFirst = true

    /// `memory` outlives this connection.
    package init(_ memory: EventMemory) {
        self.memory = memory
    }

    /// What is no stream of events, such as a page to log in, is refused.
    package mutating func begin(_ headers: HeaderSection, _ news: inout StreamNews) {
        let type = headers["content-type"]?.lowercased() ?? ""
        guard type.hasPrefix("text/event-stream") else {
            news.failure = Failure(
                .refused, "the stream is not of events, but '\(type.prefix(80))'")
            return
        }
    }

    package mutating func take(_ bytes: [UInt8], _ news: inout StreamNews) {
        var found: [LineSplitter.Line] = []
        lines.take(bytes) { found.append($0) }
        for line in found { read(line, &news) }
    }

    /// An event that is not complete counts for nothing.
    package mutating func finish(_ news: inout StreamNews) {}

    private mutating func read(_ line: LineSplitter.Line, _ news: inout StreamNews) {
        guard case .whole(var bytes) = line else {
            isOverlong = true
            return
        }
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        isFirst = false
        guard !bytes.isEmpty else { return dispatch(&news) }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        var value = bytes[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: bytes[..<colon], as: UTF8.self) {
        case "data": append(value)
        case "id": memory.note(id: value)
        case "retry": news.retryAfter = Self.milliseconds(value) ?? news.retryAfter
        default: break
        }
    }

    private mutating func append(_ value: ArraySlice<UInt8>) {
        guard !isOverlong, data.count + value.count < Self.limit else {
            isOverlong = true
            return
        }
        data += value
        data.append(UInt8(ascii: "\n"))
    }

    /// Other types of events are left alone: they are for others, or for later versions.
    private mutating func dispatch(_ news: inout StreamNews) {
        defer {
            data = []
            isOverlong = false
        }
        guard !isOverlong,
            case .success(let value) = Result(catching: { try JSON.Value.parse(data) }),
            let event = value.object, event["type"]?.string == "refetchEvaluation"
        else { return }
        memory.note(
            Refetch(
                etag: event["etag"]?.string,
                lastModified: event["lastModified"]?.string
                    ?? event["lastModified"]?.number?.literal))
        news.isHint = true
    }

    private static func milliseconds(_ value: ArraySlice<UInt8>) -> Duration? {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .milliseconds(min(Int64(String(decoding: value, as: UTF8.self)) ?? .max, 86_400_000))
    }
}

/// What an event says about the flags that are to be fetched: told to the server again.
package struct Refetch: Hashable {
    package var etag: String?
    package var lastModified: String?

    /// The query of the fetch that it leads to; what is too long to be sensible is left out.
    package var query: String {
        let parts = [("flagConfigEtag", etag), ("flagConfigLastModified", lastModified)]
            .compactMap { name, value in
                value.flatMap { $0.utf8.count <= 1024 ? "\(name)=\(Self.encoded($0))" : nil }
            }
        return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }

    /// RFC 3986 §2: all but the unreserved characters as %XX.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
