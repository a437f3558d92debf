import Glibc
import Support
import Testing

/// A member that hangs: it keeps its connections and answers nothing.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HangingMemberTests {
    /// The daemon polls once an hour. Once the watch at a member that hangs stayed open and silent, and a
    /// fetch waited for a third of its time limit.
    @Test func anyOneOfThreeMembersMayHang() async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(timeout: "30s")
        for (number, member) in cluster.members.enumerated() {
            cluster.freeze(member)
            let state: StatusFlags = number.isMultiple(of: 2) ? .maintenance : .running
            try await cluster.putWhenPossible(state, for: daemon)
            cluster.thaw(member)
        }
        try await daemon.awaitLine("does not answer; it is tried last")
        try await daemon.awaitStates(["running", "maintenance", "running", "maintenance"])
    }

    /// Both members that the daemon knows are watched, so it learns of each that it hangs.
    @Test(arguments: [0, 1]) func aMemberThatHangsIsToldInStatus(_ number: Int) async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(members: 2)
        #expect(try !daemon.control("status").output.contains("does not answer"))
        let member = cluster.members[number]
        cluster.freeze(member)
        try await cluster.putWhenPossible(.maintenance, for: daemon)
        let line =
            "source 'app': 'http://127.0.0.1:\(member.port)' does not answer; it is tried last"
        try await daemon.awaitUntil("status tells it") {
            try daemon.control("status").output.contains(line)
        }
        let json = try daemon.control("status", "--json").output
        #expect(json.contains("\"warnings\""))
        try await cluster.putWhenPossible(.updateRequired, for: daemon)
        cluster.thaw(member)
        #expect(try daemon.lines(with: "does not answer").count == 1)
    }
}
