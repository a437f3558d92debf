import CivilTime
import Decision
import FlagSources
import JSON
import Requests
import Testing

/// Lines of a watch as etcd 3.4 writes them, in parts of any size.
@Suite struct WatchParserTests {
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
            ("a page", "<html>\n", false, Failure(.invalid, "watch: a line is not a JSON object")),
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
    private func parser() -> WatchParser { WatchParser { $0 == Array("a".utf8) } }

    @Test func anUnfinishedLineIsNoNews() {
        var (parser, update) = (parser(), StreamUpdate())
        parser.parse(Array(#"{"result":{"events":[{"kv":{"key":"YQ=="}}]}}"#.utf8), &update)
        #expect(update == StreamUpdate())
        parser.parse([0x0A], &update)
        #expect(update.isHint)
    }
}

/// Answers of etcd's gateway to a range: those of etcd 3.4, and malformed ones.
@Suite struct SnapshotTests {
    private func snapshot(_ text: String) throws -> Snapshot {
        let object = try #require(try JSON.Value.parse(Array(text.utf8)).object)
        return try Snapshot(object, prefix: "svc/")
    }

    @Test func keysLoseThePrefixAndValuesAreText() throws {
        let snapshot = try snapshot(
            """
            {"header":{"cluster_id":"7","member_id":"3","revision":"9","raft_term":"2"},"kvs":[
            {"key":"c3ZjL2E=","create_revision":"2","mod_revision":"8","version":"1",
             "value":"eyJzdGF0ZSI6InJ1bm5pbmcifQ=="},
            {"key":"c3ZjL2I=","create_revision":"3","mod_revision":"3","version":"1"},
            {"key":"c3ZjL/8=","create_revision":"3","mod_revision":"3","version":"1"},
            {"key":"c3ZjL2M=","create_revision":"3","mod_revision":"3","version":"1","value":"/w=="}
            ],"count":"4"}
            """)
        #expect(snapshot.cluster == "7")
        #expect(snapshot.revision == 9)
        #expect(snapshot.revisions == ["a": 8, "b": 3, "c": 3])
        #expect(
            String(decoding: snapshot.body, as: UTF8.self)
                == #"{"a":"{\"state\":\"running\"}","b":"","c":null}"#)
    }

    @Test func theHighestRevisionIsTheLastThatAnotherMayFollow() throws {
        let text = #"{"header":{"cluster_id":"7","revision":"9223372036854775806"}}"#
        #expect(try snapshot(text).revision == Int64.max - 1)
    }

    @Test func aPrefixWithoutKeysIsAnAnswerWithoutFlags() throws {
        let snapshot = try snapshot(#"{"header":{"cluster_id":"7","revision":"1"}}"#)
        #expect(snapshot.flags.isEmpty)
        #expect(snapshot.revisions.isEmpty)
    }

    @Test(arguments: [
        "{}", #"{"header":{}}"#, #"{"header":{"cluster_id":"7","revision":"x"}}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"more":true}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[1]}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[{"key":"c3ZjL2E"}]}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[{"key":"c3ZjL2E=","value":"!"}]}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[{"key":"YQ==","value":"YQ=="}]}"#,
        // No watch could begin at the next revision, which is beyond 64 bits.
        #"{"header":{"cluster_id":"7","revision":"9223372036854775807"},"kvs":[]}"#,
        #"{"header":{"cluster_id":"7","revision":9223372036854775807},"kvs":[]}"#,
        #"{"header":{"cluster_id":"7","revision":"9223372036854775808"}}"#,
        #"{"header":{"cluster_id":"7","revision":"-1"}}"#,
        #"{"header":{"cluster_id":"7","revision":1e300}}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[{"key":"c3ZjL2E=","mod_revision":"-1"}]}"#,
        #"{"header":{"cluster_id":"7","revision":"1"},"kvs":[{"key":"c3ZjL2E=","mod_revision":"9223372036854775807"}]}"#,
    ])
    func anAnswerThatIsNotFromEtcdIsRejected(_ text: String) throws {
        #expect(throws: GatewayError.self) { try snapshot(text) }
    }
}

/// A part of the keys under a prefix.
@Suite struct GatewayPageTests {
    private func page(_ text: String, after last: String? = nil) throws -> GatewayPage {
        let object = try #require(try JSON.Value.parse(text).object)
        return try GatewayPage(object, after: last.map { Array($0.utf8) }, "svc/")
    }

    @Test func aPageHasKeysAndValues() throws {
        let page = try page(
            #"{"header":{},"kvs":[{"key":"c3ZjL2E=","value":"YQ=="},{"key":"c3ZjL2I="}],"more":true}"#
        )
        #expect(page.pairs.map(\.key) == [Array("svc/a".utf8), Array("svc/b".utf8)])
        #expect(page.pairs.map(\.value) == [Array("a".utf8), []])
        #expect(page.hasMore)
        #expect(try self.page(#"{"header":{}}"#).pairs.isEmpty)
    }

    /// One that told of more keys and held none was once the last page, so that the hosts after it were not missed.
    @Test(arguments: [
        "{}", #"{"header":{},"more":true}"#, #"{"header":{},"kvs":[{}]}"#,
        #"{"header":{},"kvs":[{"key":"c3ZjL2E"}]}"#, #"{"header":{},"kvs":[{"key":"YQ=="}]}"#,
        #"{"header":{},"kvs":[{"key":"c3ZjL2I="},{"key":"c3ZjL2I="}]}"#,
        #"{"header":{},"kvs":[{"key":"c3ZjL2E="}]}"#,
    ]) func anotherPageIsRefused(_ text: String) {
        #expect(throws: GatewayError.self) { try page(text, after: "svc/a") }
    }
}
