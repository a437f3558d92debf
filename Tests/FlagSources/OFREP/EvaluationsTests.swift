import Decision
import FlagSources
import JSON
import Testing

@Suite struct EvaluationsTests {
    private func evaluations(_ text: String) throws -> Evaluations {
        try Evaluations(Array(text.utf8))
    }

    @Test func flagsThatHaveAValueAreTakenInTheOrderOfTheirKeys() throws {
        let evaluations = try evaluations(
            """
            {"flags": [
              {"key": "z", "value": 1.50, "reason": "DEFAULT", "variant": "on"},
              {"key": "b", "errorCode": "FLAG_NOT_FOUND", "value": true},
              {"key": "c", "reason": "DISABLED"},
              {"key": "a", "value": {"state": "running"}, "reason": "STATIC", "metadata": {"x": 1}},
              {"key": "n", "value": null, "reason": "STATIC"}
            ], "metadata": {"version": 12}, "more": []}
            """)
        #expect(
            String(decoding: evaluations.body, as: UTF8.self)
                == #"{"a":{"state":"running"},"n":null,"z":1.50}"#)
        #expect(evaluations.version == "12")
        #expect(evaluations.streams.isEmpty)
    }

    /// The value is then a default of the server: no order.
    @Test func theValueOfADisabledFlagIsMissing() throws {
        let evaluations = try evaluations(
            #"""
            {"flags": [
              {"key": "a", "reason": "DISABLED", "value": false, "variant": "off"},
              {"key": "b", "reason": "ERROR", "value": false}
            ]}
            """#)
        #expect(evaluations.flags == ["b": .null])
        #expect(
            evaluations.unreadable.causes
                == [ExactString("b"): "could not be evaluated: its reason is 'ERROR'"])
    }

    /// Some servers write every member, with null for absent ones.
    @Test func anErrorCodeThatIsNullIsNone() throws {
        let evaluations = try evaluations(
            #"""
            {"flags": [
              {"key": "a", "errorCode": null, "errorDetails": null, "value": "on"},
              {"key": "b", "errorCode": "FLAG_NOT_FOUND", "value": "on"}
            ]}
            """#)
        #expect(evaluations.flags == ["a": "on"])
        #expect(evaluations.unreadable.isEmpty)
    }

    @Test(arguments: [
        (#"{"key": "a", "errorCode": "GENERAL"}"#, "could not be evaluated: 'GENERAL'"),
        (#"{"key": "a", "errorCode": "", "value": 1}"#, "could not be evaluated: ''"),
        (
            #"{"key": "a", "errorCode": "flag_not_found"}"#,
            "could not be evaluated: 'flag_not_found'"
        ),
        (#"{"key": "a", "errorCode": "\u001b[2J"}"#, "could not be evaluated: '\u{FFFD}[2J'"),
        (
            #"{"key": "a", "errorCode": 5}"#,
            "could not be evaluated: its error code is not a string"
        ),
        (#"{"key": "a", "value": 1}, {"key": "\u0061", "value": 1}"#, "is given more than once"),
        (
            #"{"key": "a", "errorCode": "FLAG_NOT_FOUND"}, {"key": "a", "value": 1}"#,
            "is given more than once"
        ),
    ])
    func aFlagThatIsNotMissingAndHasNoValueIsUnreadable(_ entries: String, _ cause: String) throws {
        let evaluations = try evaluations(#"{"flags": [\#(entries), {"key": "z", "value": 2}]}"#)
        #expect(evaluations.flags == ["a": .null, "z": 2])
        #expect(evaluations.unreadable.causes == [ExactString("a"): cause])
        #expect(evaluations.unreadable.unlisted == nil)
    }

    @Test(arguments: ["1", #"{"value": true}"#, #"{"key": null}"#, #"{"key": 7, "value": true}"#])
    func withAnEntryWithoutAKeyNoFlagIsSurelyMissing(_ entry: String) throws {
        let evaluations = try evaluations(#"{"flags": [{"key": "z", "value": 2}, \#(entry)]}"#)
        #expect(evaluations.flags == ["z": 2])
        #expect(evaluations.unreadable.causes.isEmpty)
        #expect(
            evaluations.unreadable.unlisted == "is missing, and an entry of the answer has no key")
    }

    @Test(arguments: [
        ("", "the answer is empty"), ("<html>", "the answer is a web page, not JSON"),
        ("{}", "the answer has no list 'flags'"),
        (#"{"flags": {}}"#, "the answer has no list 'flags'"),
    ])
    func whatIsNoEvaluationIsInvalid(_ text: String, _ cause: String) {
        #expect(throws: Failure(.invalid, cause)) { try evaluations(text) }
    }

    /// The address in an entry with these members of an answer of this server.
    private func address(
        _ members: String, of server: String, or hosts: [String]
    ) throws -> EventStreamAddress {
        let entry = #"{"type": "sse", \#(members)}"#
        let found = try evaluations(#"{"flags": [], "eventStreams": [{"type": "x"}, \#(entry)]}"#)
        return try EventStreamAddress(try #require(found.streams.first), of: server, or: hosts)
    }

    @Test(arguments: [
        (#""url": "https://flags.example.com/s""#, "https://flags.example.com/s", true),
        (#""url": "https://flags.example.com:443/s""#, "https://flags.example.com:443/s", true),
        (#""url": "https://flags.example.com:8443/s""#, "https://flags.example.com:8443/s", false),
        (#""url": "https://sse.example.com/s?a=b""#, "https://sse.example.com/s?a=b", false),
        (#""endpoint": {"requestUri": "/s"}"#, "https://flags.example.com:443/s", true),
        (
            #""endpoint": {"requestUri": "/s", "origin": "https://sse.example.com"}"#,
            "https://sse.example.com/s", false
        ),
    ])
    func streamsAreFoundAndKnownByTheirOrigin(
        _ members: String, _ url: String, _ isOwn: Bool
    ) throws {
        let address = try address(
            members, of: "https://flags.example.com/base",
            or: ["https://sse.example.com", "https://flags.example.com:8443"])
        #expect(address.url == url)
        #expect(address.isOwn == isOwn)
    }

    @Test(arguments: [
        #""url": "http://flags.example.com/s""#, #""url": "file:///etc/passwd""#,
        #""url": "https://flags.example.com/s HTTP/1.1\r\nX: y""#, #""url": """#, #""url": "/s""#,
        #""endpoint": {"requestUri": "/s", "origin": "gopher://a"}"#,
    ])
    func unsafeStreamAddressesAreNotFollowed(_ members: String) {
        #expect(throws: EventStreamAddress.Refusal.unusable) {
            try address(members, of: "https://flags.example.com", or: ["http://flags.example.com"])
        }
    }

    /// A server that somebody has taken over names a metadata service of the cloud, or a port of this host.
    @Test(arguments: [
        (#""url": "http://169.254.169.254/latest/meta-data""#, "http://169.254.169.254:80"),
        (#""url": "http://flags.example.com:8080/s""#, "http://flags.example.com:8080"),
        (#""url": "https://flags.example.com/s""#, "https://flags.example.com:443"),
        (#""url": "http://flags.example.com@127.0.0.1/s""#, "http://127.0.0.1:80"),
        (#""endpoint": {"requestUri": "/s", "origin": "http://[::1]"}"#, "http://[::1]:80"),
        (
            #""url": "http://sse.example.com.evil.example/s""#,
            "http://sse.example.com.evil.example:80"
        ),
    ])
    func streamsAtOtherOriginsAreNotFollowed(_ members: String, _ origin: String) {
        #expect(throws: EventStreamAddress.Refusal.foreign(origin)) {
            try address(members, of: "http://flags.example.com", or: ["http://sse.example.com"])
        }
    }

    @Test(arguments: [
        #"{"url": "https://a/"}"#, #"{"type": "websocket", "url": "https://a/"}"#,
        #"{"type": "sse"}"#,
        #"{"type": "sse", "url": "https://a/", "endpoint": {"requestUri": "/s"}}"#,
        #"{"type": "sse", "endpoint": {"requestUri": "s"}}"#, "7",
    ])
    func unknownKindsOfStreamAreIgnored(_ entry: String) throws {
        #expect(try evaluations(#"{"flags": [], "eventStreams": [\#(entry)]}"#).streams.isEmpty)
    }
}

/// Streams of events, in parts of any size.
@Suite struct EventParserTests {
    struct Events: CustomTestStringConvertible, Sendable {
        let text: String
        var isHint = false
        var query: String?
        var lastID: String?
        var retryAfter: Duration?
        var testDescription: String { String(text.prefix(60)) }
    }

    private static let refetch = #"data: {"type": "refetchEvaluation"}"#

    @Test(arguments: [
        Events(text: ": a comment\n\n"),
        Events(text: "\(refetch)\n\n", isHint: true, query: ""),
        Events(text: "\u{FEFF}\(refetch)\n\n", isHint: true, query: ""),
        Events(text: "\(refetch)\r\n\r\n", isHint: true, query: ""),
        Events(text: "\(refetch)\r\r", isHint: true, query: ""),
        Events(text: "\(refetch)\n"),
        Events(text: "event: anything\n\(refetch)\n\n", isHint: true, query: ""),
        Events(
            text: "data: {\"type\":\r\ndata:\"refetchEvaluation\"}\r\n\r\n", isHint: true, query: ""
        ),
        Events(
            text: #"data: {"type": "refetchEvaluation", "etag": "\"a&b\"", "lastModified": 17}"#
                + "\n\n", isHint: true,
            query: "?flagConfigEtag=%22a%26b%22&flagConfigLastModified=17"),
        Events(
            text: #"data: {"type": "refetchEvaluation", "lastModified": "2027-03-01T12:00:00Z"}"#
                + "\n\n", isHint: true,
            query: "?flagConfigLastModified=2027-03-01T12%3A00%3A00Z"),
        Events(text: #"data: {"type": "other"}"# + "\n\n"),
        Events(text: "data: refetchEvaluation\n\n"),
        Events(text: "data\n\ndata:\n\n"),
        Events(text: "id: evt-1\n\n", lastID: "evt-1"),
        Events(text: "id: evt-1\nid\n\n"),
        Events(text: "id: evt-\u{1}\n\n"),
        Events(text: "retry: 2500\n", retryAfter: .milliseconds(2500)),
        Events(text: "retry: soon\nretry:\nretry: -1\n"),
        Events(text: "retry: 99999999999999999999\n", retryAfter: .seconds(86_400)),
        Events(text: "data: \(String(repeating: "a", count: 70_000))\n\n"),
        Events(text: String(repeating: "\(refetch.dropLast(1))\n", count: 3000) + "\n"),
        Events(
            text: "data: \(String(repeating: "a", count: 70_000))\n\n\(refetch)\n\n", isHint: true,
            query: ""),
    ])
    func eachEventIsParsedHoweverTheStreamIsCut(_ events: Events) {
        for size in [1, 7, 100, events.text.utf8.count + 1] {
            let memory = EventMemory()
            var parser = EventParser(memory)
            let update = parser.update(from: Array(events.text.utf8), inPartsOf: size)
            #expect(update.isHint == events.isHint)
            #expect(update.retryAfter == events.retryAfter)
            #expect(memory.lastID == events.lastID)
            #expect(memory.popRefetch()?.query == events.query)
            #expect(memory.popRefetch() == nil)
        }
    }
}
