import Decision
import FlagSources
import Testing

/// Lines of a watch as etcd 3.4 writes them, in parts of any size.
@Suite struct WatchParserTests {
    struct Lines: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        var isHint = false
        var failure: Failure?
        var testDescription: String { name }
    }

    /// A line with a result of these members.
    private static func result(_ members: String) -> String {
        #"{"result":{"header":{"cluster_id":"7","member_id":"3","revision":"3"}\#(members)}}"#
            + "\n"
    }

    @Test(arguments: [
        Lines(name: "created", text: result(#","created":true"#)),
        Lines(name: "progress", text: result("")),
        Lines(
            name: "put", text: result(#","events":[{"kv":{"key":"YQ==","value":"YQ=="}}]"#),
            isHint: true),
        Lines(
            name: "put of another key",
            text: result(#","events":[{"kv":{"key":"Yg==","value":"YQ=="}}]"#)),
        Lines(
            name: "one of many",
            text: result(#","events":[{"kv":{"key":"Yg=="}},{"kv":{"key":"YQ=="}}]"#), isHint: true),
        Lines(
            name: "a key that is no base64", text: result(#","events":[{"kv":{"key":"Yg"}}]"#),
            isHint: true),
        Lines(
            name: "an event without a key", text: result(#","events":[{"type":"DELETE"}]"#),
            isHint: true),
        Lines(name: "events that are no list", text: result(#","events":{}"#), isHint: true),
        Lines(
            name: "delete", text: result(#","events":[{"type":"DELETE","kv":{"key":"YQ=="}}]"#),
            isHint: true),
        Lines(
            name: "compacted", text: result(#","canceled":true,"compact_revision":"8""#),
            failure: Failure(
                .unreachable, "watch: the changes since the last poll are compacted")),
        Lines(
            name: "expired token",
            text: result(
                #","watch_id":"-1","created":true,"canceled":true,"cancel_reason":"rpc error: "#
                    + #"code = Unauthenticated desc = etcdserver: invalid auth token""#),
            failure: Failure(.unreachable, "watch: invalid auth token")),
        Lines(
            name: "no right",
            text:
                #"{"result":{"created":true,"canceled":true,"cancel_reason":"rpc error: code = Pe"#
                + #"rmissionDenied desc = etcdserver: permission denied"}}"# + "\n",
            failure: Failure(.refused, "watch: permission denied")),
        Lines(
            name: "the end of a server, without the end of a line",
            text: #"{"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}}"#,
            failure: Failure(.unreachable, "watch: the server has ended it")),
        Lines(
            name: "no leader", text: #"{"error":{"message":"etcdserver: no leader"}}"# + "\n",
            failure: Failure(.unreachable, "watch: no leader")),
        Lines(
            name: "a page", text: "<html>\n",
            failure: Failure(.invalid, "watch: a line is not a JSON object")),
        Lines(
            name: "other JSON", text: "{}\n",
            failure: Failure(.invalid, "watch: a line is not as etcd writes it")),
        Lines(name: "empty lines", text: "\n\r\n\n"),
        Lines(
            name: "a line that is too long", text: String(repeating: "a", count: 70_000) + "\n",
            isHint: true),
    ])
    func eachLineIsParsedHoweverTheStreamIsCut(_ lines: Lines) {
        for size in [1, 7, 100, lines.text.utf8.count + 1] {
            var parser = parser()
            let update = parser.update(from: Array(lines.text.utf8), inPartsOf: size)
            #expect(update.isHint == lines.isHint)
            #expect(update.failure == lines.failure)
        }
    }

    /// A parser for a host that reads the key `a`.
    private func parser() -> WatchParser { WatchParser { key, _ in key == Array("a".utf8) } }

    @Test func theParserTellsTheRevisionOfEachEvent() {
        var revisions: [Int64] = []
        var parser = WatchParser { _, revision in
            revisions.append(revision)
            return false
        }
        var update = StreamUpdate()
        let event = #"{"kv":{"key":"YQ==","mod_revision":"12"}},{"kv":{"key":"YQ=="}}"#
        parser.parse(Array(#"{"result":{"events":[\#(event)]}}\#n"#.utf8), &update)
        #expect(revisions == [12, 0])
        #expect(!update.isHint)
    }

    @Test func anUnfinishedLineIsNoNews() {
        var (parser, update) = (parser(), StreamUpdate())
        parser.parse(Array(#"{"result":{"events":[{"kv":{"key":"YQ=="}}]}}"#.utf8), &update)
        #expect(update == StreamUpdate())
        parser.parse([0x0A], &update)
        #expect(update.isHint)
    }
}
