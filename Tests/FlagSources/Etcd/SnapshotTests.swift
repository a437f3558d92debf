import Decision
import FlagSources
import JSON
import Testing

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
