import Decision
package import HTTP
import JSON
import Requests

/// Reads server-sent events (WHATWG HTML §9.2.6). An event `refetchEvaluation` is a hint.
package struct EventParser: StreamParser {
    /// The longest line, and the longest data of an event, in bytes. What is longer is skipped.
    package static let limit = 64 << 10

    private let memory: EventMemory
    private var lines = LineSplitter(limit: limit)
    private var data: [UInt8] = []
    private var isOverlong = false
    private var isFirst = true

    /// Makes the parser of one connection; `memory` outlives it.
    package init(_ memory: EventMemory) { self.memory = memory }

    /// Refuses an answer of another content type, such as a login page.
    package mutating func parseHead(_ headers: HeaderSection, _ update: inout StreamUpdate) {
        let type = headers["content-type"]?.lowercased() ?? ""
        if !type.hasPrefix("text/event-stream") {
            update.failure = Failure(
                .refused, "the stream is not of events, but '\(type.prefix(80))'")
        }
    }

    /// Reads lines, and the events that empty lines end.
    package mutating func parse(_ bytes: [UInt8], _ update: inout StreamUpdate) {
        for line in lines.split(bytes) { read(line, &update) }
    }

    private mutating func read(_ line: LineSplitter.Line, _ update: inout StreamUpdate) {
        guard var bytes = line else {
            isOverlong = true
            return
        }
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        isFirst = false
        guard !bytes.isEmpty else { return dispatch(&update) }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        var value = bytes[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: bytes[..<colon], as: UTF8.self) {
        case "data": append(value)
        case "id": memory.record(id: value)
        case "retry":
            guard let wait = value.decimalNumber else { break }
            update.retryAfter = .milliseconds(min(wait, 86_400_000))
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

    /// Ignores events of other types: they are for other clients or for later versions.
    private mutating func dispatch(_ update: inout StreamUpdate) {
        defer {
            data = []
            isOverlong = false
        }
        guard !isOverlong,
            case .success(let value) = Result(catching: { try JSON.Value.parse(data) }),
            let event = value.object, event["type"]?.string == "refetchEvaluation"
        else { return }
        memory.record(
            Refetch(etag: event["etag"]?.string, lastModified: event["lastModified"]?.scalarText))
        update.isHint = true
    }
}

/// The validators of the flags that an event announces. The fetch that follows sends them back.
package struct Refetch: Hashable {
    package var etag: String?
    package var lastModified: String?

    /// The query of that fetch, without validators of unreasonable length.
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
            if unreserved.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }

    private static let unreserved = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}

/// The memory of a stream of events, from one connection to the next.
package final class EventMemory {
    /// The identifier of the last event, which a new connection sends as `Last-Event-ID`.
    private(set) package var lastID: String?
    private var refetch: Refetch?

    /// The memory before the first connection.
    package init() {}

    /// Keeps the identifier of an event, unless it cannot stand in a header.
    func record(id: ArraySlice<UInt8>) {
        guard id.count <= 1024, id.allSatisfy({ (0x20...0x7E).contains($0) }) else { return }
        lastID = id.isEmpty ? nil : String(decoding: id, as: UTF8.self)
    }

    /// Keeps the newest validators.
    func record(_ refetch: Refetch) { self.refetch = refetch }

    /// The newest validators, once.
    package func popRefetch() -> Refetch? {
        defer { refetch = nil }
        return refetch
    }
}
