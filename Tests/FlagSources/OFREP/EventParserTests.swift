import Decision
import FlagSources
import Testing

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
