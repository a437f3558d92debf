import Testing

/// A way in which a server fails to give flags, and how the daemon has to react.
struct Misbehaviour: CustomTestStringConvertible, Sendable {
    /// The name of the case in `flag-server.py`.
    let name: String
    let line: String
    var isSecure = false
    /// The reason of the verdict afterwards; the state stays as it was.
    var reason = "flags"
    /// How long the daemon waits until the next poll, in seconds. The default is the back-off at an interval of 100 ms.
    var pause: ClosedRange<Double> = backOff

    /// Whether its answer is not complete within the time limit of the request.
    var isLate: Bool { line.hasPrefix("no complete answer") }

    var testDescription: String { isSecure ? "\(name) over TLS" : name }

    /// From below the interval, for jitter, to 5 intervals and what a busy machine adds.
    static let backOff = 0.05...2.4
    /// The slowest pace, from the first failure on: half to all of 5 intervals.
    static let slow = 0.25...2.4
    /// The Retry-After of the server: two seconds, or a time in whole seconds, three seconds ahead.
    static let asAsked = 1.9...4.2

    static func status(
        _ name: String, _ text: String, pause: ClosedRange<Double> = backOff
    ) -> Misbehaviour {
        Misbehaviour(name: name, line: "/flags': the server answers \(text); ", pause: pause)
    }

    static func invalid(_ name: String, _ text: String) -> Misbehaviour {
        Misbehaviour(
            name: name, line: "the last answer of source 'app' is invalid: \(text)",
            reason: "invalid-answer")
    }

    static func broken(_ name: String, _ cause: String) -> Misbehaviour {
        Misbehaviour(name: name, line: "the answer is broken: \(cause)")
    }

    static func coded(_ name: String, _ codings: String) -> Misbehaviour {
        Misbehaviour(
            name: name, line: "the answer is encoded as '\(codings)', which is not accepted")
    }

    static func secure(_ name: String, _ text: String) -> Misbehaviour {
        Misbehaviour(name: name, line: text, isSecure: true)
    }
}

extension Misbehaviour {
    static let all: [Misbehaviour] = [
        .status("204", "204 (no content)"),
        .status("203", "203"),
        .status("206", "206"),
        .status("404", "404 (not found)"),
        .status("410", "410 (gone)"),
        .status("429", "429 (too many requests)"),
        .status("500", "500 (internal error)"),
        .status("503", "503 (unavailable)"),
        .status("seconds-429", "429 (too many requests)", pause: asAsked),
        .status("seconds-500", "500 (internal error)", pause: asAsked),
        .status("seconds-503", "503 (unavailable)", pause: asAsked),
        .status("date-429", "429 (too many requests)", pause: asAsked),
        .status("date-500", "500 (internal error)", pause: asAsked),
        .status("date-503", "503 (unavailable)", pause: asAsked),
        .status("rfc3339-429", "429 (too many requests)", pause: asAsked),
        .status("rfc3339-500", "500 (internal error)", pause: asAsked),
        .status("rfc3339-503", "503 (unavailable)", pause: asAsked),
        .status("past-503", "503 (unavailable)"),
        .status("negative-503", "503 (unavailable)"),
        .status("nonsense-503", "503 (unavailable)"),
        .status("401", "401 (unauthorized)", pause: slow),
        .status("403", "403 (forbidden)", pause: slow),
        .status("redirect-nowhere", "302"),

        .invalid("empty", "the answer is empty"),
        .invalid("page", "the answer is a web page, not JSON"),
        .invalid("truncated", "the answer is not valid JSON: "),
        .invalid("duplicate", "the answer is not valid JSON: "),
        .invalid("nested", "the answer is not valid JSON: "),
        .invalid("latin", "the answer is not valid JSON: "),
        .invalid("list", "the answer is an array, not a JSON object"),
        .invalid("wrong-type", "key 'apiInactive' is "),
        .invalid("unknown-word", "key 'apiInactive' is 'perhaps', not "),
        .invalid("missing-key", "key 'forceUpdate' is missing"),

        Misbehaviour(name: "large", line: "the answer is larger than 1048576 bytes"),
        Misbehaviour(name: "bomb", line: "the answer is larger than 1048576 bytes"),
        .coded("double-bomb", "gzip, gzip"),
        .coded("other-coding", "br"),
        .broken("no-gzip", "it cannot be decoded"),
        .broken("hidden-codings", "its Content-Encoding is not readable"),
        .coded("hidden-by-a-field", "gzip, gzip, gzip"),
        .coded("coding-twice", "gzip, gzip"),
        .broken("coding-not-in-ascii", "its Content-Encoding is not readable"),
        .coded("long-coding", String(repeating: "x", count: 40) + "…"),
        .broken("hidden-transfer-coding", "its Transfer-Encoding is not readable"),
        .coded("transfer-coding-twice", "gzip, chunked"),
        .broken("no-trailer", "it was cut short"),
        .broken("half-a-trailer", "it was cut short"),
        .broken("no-trailer-in-chunks", "it was cut short"),
        .broken("no-trailer-of-the-second", "it was cut short"),
        .broken("wrong-sum", "it cannot be decoded"),
        .broken("wrong-size", "it cannot be decoded"),
        .broken("after-gzip", "it cannot be decoded"),
        .broken("zlib-as-gzip", "it cannot be decoded"),
        Misbehaviour(name: "empty-blocks", line: "the answer is larger than 1048576 bytes"),
        .broken("two-lengths", "it has two lengths"),
        .broken("two-lengths-in-a-list", "it has two lengths"),
        .broken("length-with-a-sign", "its Content-Length is not readable"),
        .broken("length-with-a-unit", "its Content-Length is not readable"),
        .broken("hidden-length", "its Content-Length is not readable"),
        .broken("huge-length", "its Content-Length is not readable"),
        .broken("length-and-chunks", "it has a length and a transfer coding"),
        .status("status-in-the-trailer", "500 (internal error)"),
        .status("status-among-the-fields", "500 (internal error)"),
        .broken("other-status-line", "it is not valid HTTP"),
        Misbehaviour(name: "headers", line: "the headers are larger than 65536 bytes"),
        Misbehaviour(name: "long-header", line: "get 'http://127.0.0.1:"),
        Misbehaviour(
            name: "drip", line: "no complete answer within 2.0 seconds", pause: 0.05...4.4),
        Misbehaviour(
            name: "header-drip", line: "no complete answer within 2.0 seconds", pause: 0.05...4.4),
        Misbehaviour(
            name: "silence", line: "no complete answer within 2.0 seconds", pause: 0.05...4.4),
        .broken("cut-short", "it was cut short"),
        // On a kept connection the request is repeated at once: the server may just have closed it.
        Misbehaviour(name: "hang-up", line: "the answer is broken: ", pause: 0...2.4),
        .broken("nonsense", "it is not valid HTTP"),
        Misbehaviour(name: "redirect-host", line: "redirected to another host, '127.0.0.2'"),
        Misbehaviour(name: "redirect-port", line: "redirected to another port, "),
        Misbehaviour(name: "redirect-loop", line: "redirected more than 10 times"),
        Misbehaviour(name: "redirect-file", line: "redirected to an unreadable address"),
        Misbehaviour(name: "closed", line: "cannot connect: connection refused"),

        .secure("redirect-down", "redirected from https to http"),
        .secure("redirect-host", "redirected to another host, '127.0.0.2'"),
        .secure("expired", "certificate not accepted: certificate has expired"),
        .secure("other-name", "certificate not accepted: no alternative certificate subject name"),
        .secure(
            "other-authority",
            "certificate not accepted: unable to get local issuer certificate"),
        .secure("tls-1.1", "no secure connection: "),
    ]
}
