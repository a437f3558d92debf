import Files
import Glibc
import Support
import Testing

/// Outages of etcd of every kind: no order is lost, and none is invented.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EtcdOutageTests {
    @Test(arguments: [SIGKILL, SIGTERM])
    func afterARestartOfTheServerTheNextPutIsSeen(_ signal: Int32) async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        for state in [StatusFlags.maintenance, .running] {
            cluster.send(signal, to: cluster.members[0])
            try await cluster.restart(cluster.members[0])
            try await cluster.put(state, for: daemon)
        }
        try await daemon.awaitStates(["running", "maintenance", "running"])
    }

    /// Each outage ends a watch that was open only briefly. Once the back-off of the watch grew from outage
    /// to outage, although the server was up in between, and an order came minutes late. The daemon polls
    /// once an hour, so that only the watch can bring the order in time.
    @Test func afterManyOutagesAnOrderIsSeenAsSoonAsAfterTheFirst() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        for number in 0..<8 {
            try await cluster.restart(cluster.members[0])
            let state: StatusFlags = number.isMultiple(of: 2) ? .maintenance : .running
            try await cluster.put(state, for: daemon)
        }
    }

    /// A change whose revision is compacted is seen, although no watch can report it: etcd cancels such a
    /// watch and leaves its connection open.
    @Test func aChangeBehindACompactionIsSeenAndSoIsTheNext() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        let member = cluster.members[0]
        try cluster.kill(member)
        try await cluster.runHidden(member) {
            try cluster.put(.updateRequired)
            try cluster.put(.maintenance)
            let status = try cluster.control("put", "/other", "x", "--write-out", "json")
            let revision = try #require(status.firstMatch(of: /"revision":([0-9]+)/)?.1)
            try cluster.control("compact", String(revision))
        }
        try await cluster.start(member)
        try await daemon.awaitState("maintenance")
        try await cluster.put(.running, for: daemon)
        try await daemon.awaitStates(["running", "maintenance", "running"])
    }

    /// A watch from a revision that the restored cluster has not reached yet would stay silent for long.
    @Test func aClusterRestoredToAnOlderRevisionIsFollowedFromThereOn() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed(.maintenance)
        let snapshot = cluster.folder("snapshot")
        try cluster.control("snapshot", "save", snapshot)
        for _ in 0..<5 { try cluster.put(.updateRequired) }
        try await daemon.awaitState("update-required")
        try cluster.restore(cluster.members[0], from: snapshot)
        try await cluster.start(cluster.members[0])
        try await daemon.awaitState("maintenance")
        try await cluster.put(.running, for: daemon)
        try await daemon.awaitStates(["maintenance", "update-required", "maintenance", "running"])
    }

    /// A server that neither answers nor closes its connections prevents no later poll.
    @Test func aHangingServerIsAFailureAndNoOrder() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed(interval: "200ms", timeout: "1s")
        cluster.send(SIGSTOP, to: cluster.members[0])
        try await daemon.awaitLine("no complete answer in time")
        #expect(try daemon.member("state") == #""running""#)
        cluster.send(SIGCONT, to: cluster.members[0])
        try await cluster.put(.maintenance, for: daemon)
    }

    /// Any one of three members may fail. Without a majority there is no answer and no order, and the
    /// watch is given up although its connection stays open. With a majority the daemon recovers.
    @Test func aClusterOfThreeLosesOneAndThenItsMajority() async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(interval: "4s")
        for (number, member) in cluster.members.enumerated() {
            try cluster.kill(member)
            let state: StatusFlags = number.isMultiple(of: 2) ? .maintenance : .running
            try await cluster.putWhenPossible(state, for: daemon)
            try await cluster.start(member)
        }
        #expect(try daemon.member("state") == #""maintenance""#)

        try cluster.kill(cluster.members[0])
        try cluster.kill(cluster.members[1])
        try await daemon.awaitLine("no other endpoint answers either")
        try daemon.expect("maintenance", "flags")

        try await cluster.start(cluster.members[0])
        try await cluster.put(.running, for: daemon)
    }

    /// Puts race with kills of the server: each verdict is one that was put, in the order of the puts, and
    /// the last put decides at last.
    @Test func amongKillsNoOrderIsLostAndNoneIsInvented() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        for round in 0..<8 {
            for number in 0..<5 {
                let message = "\(round)-\(number)"
                try cluster.control(
                    "put", "/flags/shop",
                    #"{"apiInactive": true, "forceUpdate": false, "userMessage": "\#(message)"}"#)
                try daemon.spin(for: .milliseconds(Int64.random(in: 0...20)))
            }
            try cluster.kill(cluster.members[0])
            try await daemon.pause(for: .milliseconds(Int64.random(in: 0...200)))
            try await cluster.start(cluster.members[0])
            try await daemon.awaitUntil("the last put counts") {
                try daemon.member("message") == "\"\(round)-4\""
            }
        }
        try await daemon.awaitStates(["running", "maintenance"])
    }
}
