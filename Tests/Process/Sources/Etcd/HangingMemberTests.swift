import Glibc
import Support
import Testing

/// A member that hangs: it keeps its connections and answers nothing.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HangingMemberTests {
    /// The daemon polls once an hour. Once the watch at a member that hangs stayed open and silent, and a
    /// fetch waited for a third of its time limit.
    @Test func anyOneOfThreeMembersMayHang() async throws {
        let cluster = try await EtcdCluster(size: 3)
        try cluster.put(.running)
        let daemon = try Daemon(on: cluster, timeout: "30s")
        try daemon.start()
        try await daemon.awaitState("running")
        for (number, member) in cluster.members.enumerated() {
            cluster.freeze(member)
            let state: EtcdCluster.Flags = number.isMultiple(of: 2) ? .maintenance : .running
            try await cluster.putWhenPossible(state)
            try await daemon.awaitState(state.rawValue)
            cluster.thaw(member)
        }
        try await daemon.awaitLine("does not answer; it is tried last")
        try await daemon.awaitStates(["running", "maintenance", "running", "maintenance"])
    }

    /// Both members that the daemon knows are watched, so it learns of each that it hangs.
    @Test(arguments: [0, 1]) func aMemberThatHangsIsToldInStatus(_ number: Int) async throws {
        let cluster = try await EtcdCluster(size: 3)
        try cluster.put(.running)
        let daemon = try Daemon(on: cluster, members: 2)
        try daemon.start()
        try await daemon.awaitState("running")
        #expect(try !daemon.control("status").output.contains("does not answer"))
        let member = cluster.members[number]
        cluster.freeze(member)
        try await cluster.putWhenPossible(.maintenance)
        try await daemon.awaitState("maintenance")
        let line =
            "source 'app': 'http://127.0.0.1:\(member.port)' does not answer; it is tried last"
        try await waitUntil("status tells it", orReport: { try daemon.log }) {
            try daemon.control("status").output.contains(line)
        }
        let json = try daemon.control("status", "--json").output
        #expect(json.contains("\"warnings\""))
        try await cluster.putWhenPossible(.updateRequired)
        try await daemon.awaitState("update-required")
        cluster.thaw(member)
        #expect(try daemon.lines(with: "does not answer").count == 1)
    }
}
