import Decision
import FlagSources
import Testing

/// Lines of a watch as etcd 3.4 writes them, in parts of any size.
@Suite struct WatchParserTests {
    /// A line with a result of these members.
    private static func result(_ members: String) -> String {
        #"{"result":{"header":{"cluster_id":"7","member_id":"3","revision":"3"}\#(members)}}"#
            + "\n"
    }

    @Test(
        arguments: [
            ("created", result(#","created":true"#), false, nil),
            ("progress", result(""), false, nil),
            ("put", result(#","events":[{"kv":{"key":"YQ==","value":"YQ=="}}]"#), true, nil),
            (
                "put of another key",
                result(#","events":[{"kv":{"key":"Yg==","value":"YQ=="}}]"#), false, nil
            ),
            (
                "one of many",
                result(#","events":[{"kv":{"key":"Yg=="}},{"kv":{"key":"YQ=="}}]"#), true, nil
            ),
            ("a key that is no base64", result(#","events":[{"kv":{"key":"Yg"}}]"#), true, nil),
            ("an event without a key", result(#","events":[{"type":"DELETE"}]"#), true, nil),
            ("events that are no list", result(#","events":{}"#), true, nil),
            ("delete", result(#","events":[{"type":"DELETE","kv":{"key":"YQ=="}}]"#), true, nil),
            (
                "compacted", result(#","canceled":true,"compact_revision":"8""#), false,
                Failure(.unreachable, "watch: the changes since the last poll are compacted")
            ),
            (
                "expired token",
                result(
                    #","watch_id":"-1","created":true,"canceled":true,"cancel_reason":"rpc error: "#
                        + #"code = Unauthenticated desc = etcdserver: invalid auth token""#),
                false, Failure(.unreachable, "watch: invalid auth token")
            ),
            (
                "no right",
                #"{"result":{"created":true,"canceled":true,"cancel_reason":"rpc error: code = Pe"#
                    + #"rmissionDenied desc = etcdserver: permission denied"}}"# + "\n", false,
                Failure(.refused, "watch: permission denied")
            ),
            (
                "the end of a server, without the end of a line",
                #"{"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}}"#,
                false, Failure(.unreachable, "watch: the server has ended it")
            ),
            (
                "no leader", #"{"error":{"message":"etcdserver: no leader"}}"# + "\n", false,
                Failure(.unreachable, "watch: no leader")
            ),
            (
                "a page", "<html>\n", false,
                Failure(.invalid, "watch: a line is not a JSON object")
            ),
            (
                "other JSON", "{}\n", false,
                Failure(.invalid, "watch: a line is not as etcd writes it")
            ),
            ("empty lines", "\n\r\n\n", false, nil),
            ("a line that is too long", String(repeating: "a", count: 70_000) + "\n", true, nil),
        ] as [(String, String, Bool, Failure?)])
    func eachLineIsParsedHoweverTheStreamIsCut(
        _ name: String, _ lines: String, _ isHint: Bool, _ failure: Failure?
    ) {
        for size in [1, 7, 100, lines.utf8.count + 1] {
            var parser = parser()
            let update = parser.update(from: Array(lines.utf8), inPartsOf: size)
            #expect(update.isHint == isHint)
            #expect(update.failure == failure)
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
