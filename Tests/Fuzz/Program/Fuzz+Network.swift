import CivilTime
import Decision
import JSON
import Requests

@testable import FlagSources
@testable import HTTP

/// What comes over a network or a socket.
extension Fuzz {
    private static let now = Instant(seconds: 1_800_000_000)

    static func serverTemplate(_ bytes: [UInt8]) -> Bool {
        guard let object = accepted({ try FlagDocument.parse(bytes) }),
            let template = accepted({ try Template(object) })
        else { return false }
        let context = EvaluationContext(
            randomizationID: "host",
            signals: ["plan": .text("gold"), "level": .integer(7), "app": .text("1.2.3")])
        let flags = template.flags(in: context, .real).flags
        hold(template.flags(in: context, .real).flags == flags, "the evaluation is the same again")
        hold(flags.members.allSatisfy { $0.value.string != nil }, "each value is a string")
        return true
    }

    static func clientTemplate(_ bytes: [UInt8]) -> Bool {
        let response = HTTPResponse(headers: HeaderSection(), body: bytes)
        let answers = [false, true].map { isConditional in
            accepted { try response.clientFlags(isConditional: isConditional) }
        }
        if let answer = answers[0] {
            hold(answer != nil, "only a condition can be unchanged")
            hold(answer?.flags.isEmpty != true, "an order has flags")
        }
        return answers[1] != nil
    }

    static func evaluations(_ bytes: [UInt8]) -> Bool { accepted { try Evaluations(bytes) } != nil }

    static func eventStream(_ bytes: [UInt8]) -> Bool {
        isNew(bytes) { EventParser(EventMemory()) }
    }

    static func invalidations(_ bytes: [UInt8]) -> Bool {
        isNew(bytes) { InvalidationParser { $0 > 7 } }
    }

    static func etcdWatch(_ bytes: [UInt8]) -> Bool {
        isNew(bytes) { WatchParser { $0.count.isMultiple(of: 2) } }
    }

    /// Whether a stream has a hint. Its news do not depend on where the parts end.
    private static func isNew<Parser: StreamParser>(_ bytes: [UInt8], _ make: () -> Parser) -> Bool
    {
        func update(_ size: Int) -> StreamUpdate {
            var (parser, update) = (make(), StreamUpdate())
            var rest = bytes[...]
            while !rest.isEmpty {
                parser.parse(Array(rest.prefix(size)), &update)
                rest = rest.dropFirst(size)
            }
            parser.finish(&update)
            return update
        }
        let whole = update(max(1, bytes.count))
        for size in [1, 7] { hold(whole == update(size), "parts of \(size) make no difference") }
        return whole.isHint
    }

    static func snapshot(_ bytes: [UInt8]) -> Bool {
        guard let object = accepted({ try FlagDocument.parse(bytes) }),
            let snapshot = accepted({ try Snapshot(object, prefix: "/flags/") })
        else { return false }
        hold(accepted { try FlagDocument.parse(snapshot.body) } == snapshot.flags, "the same flags")
        hold(
            snapshot.flags.members.map(\.key) == snapshot.revisions.members.map(\.key),
            "each flag has a revision")
        return true
    }

    /// A page of keys, and then another one after its last.
    static func etcdPage(_ bytes: [UInt8]) -> Bool {
        let prefix = "/flags-hosts/"
        guard let object = accepted({ try FlagDocument.parse(bytes) }),
            let page = accepted({ try GatewayPage(object, after: nil, prefix) })
        else { return false }
        let keys = page.pairs.map(\.key)
        hold(keys.allSatisfy { $0.starts(with: prefix.utf8) }, "keys have the prefix")
        hold(
            zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) },
            "keys come in their order")
        guard let last = keys.last else {
            hold(!page.hasMore, "more comes after a key")
            return true
        }
        let again = accepted { try GatewayPage(object, after: last, prefix) }
        hold(again == nil, "no key comes twice")
        return true
    }

    /// The header section of an answer, and then its body.
    static func headers(_ bytes: [UInt8]) -> Bool {
        var incoming = ResponseAccumulator()
        var rest = bytes[...]
        while !rest.isEmpty, !incoming.headers.isComplete {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            let line = Array(rest[..<end])
            rest = rest[end...]
            guard unsafe line.withUnsafeBytes({ unsafe incoming.receive(header: $0) }) else {
                return false
            }
        }
        let response = HTTPResponse(headers: incoming.headers, body: [])
        _ = response.validators
        if let wait = response.retryAfter(now: now) { hold(wait >= .zero, "no negative wait") }
        _ = response.date(now: now)
        let body = Array(rest)
        _ = unsafe body.withUnsafeBytes {
            unsafe incoming.receive(body: $0, limit: 4096, keptOfRefusal: 64)
        }
        hold(incoming.body.count <= 4096, "a body is within its limit")
        return incoming.headers.isComplete && incoming.refusal == nil
    }

    static func dates(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let date = accepted { try Instant(httpDate: text, now: now) }
        if let date { holdRead(date) }
        let time = accepted { try Instant(rfc3339: text) }
        if let time { holdRead(time) }
        let stamp = accepted { try Zone.utc.instant(from: text) }
        if let stamp { holdRead(stamp) }
        let wait = RetryAfter.wait(text, now: now)
        if let wait { hold(wait >= .zero, "no negative wait") }
        return date != nil || time != nil || stamp != nil || wait != nil
    }

    /// A time is written as text that is read as the same time, to the second. With an offset a time may lie
    /// outside of the years 0000 to 9999, which no text has.
    private static func holdRead(_ time: Instant) {
        guard (-62_167_219_200..<253_402_300_800).contains(time.seconds) else { return }
        let text = Zone.utc.rfc3339(time)
        let again = accepted { try Instant(rfc3339: text) }
        hold(again?.seconds == time.seconds, "\(text) is the same second")
    }
}
