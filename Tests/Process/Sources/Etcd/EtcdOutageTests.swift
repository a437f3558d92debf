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

/// A member that is not as the others: it hangs, or it is behind.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DifferentMemberTests {
    /// A member that hangs keeps its connections and answers nothing, and so does the watch there: the next poll brings
    /// the order, from another member.
    @Test func anyOneOfThreeMembersMayHang() async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(interval: "3s", timeout: "30s")
        for (number, member) in cluster.members.enumerated() {
            cluster.freeze(member)
            let state: StatusFlags = number.isMultiple(of: 2) ? .maintenance : .running
            try await cluster.putWhenPossible(state, for: daemon)
            cluster.thaw(member)
        }
        try await daemon.awaitStates(["running", "maintenance", "running", "maintenance"])
    }

    /// Each member is polled in its turn, so the daemon learns of each that it hangs, and that it is back.
    @Test func aMemberThatHangsIsToldInStatus() async throws {
        let cluster = try await EtcdCluster(size: 3)
        // A member that works answers in this time on a busy machine too.
        let daemon = try await cluster.followed(interval: "500ms", timeout: "15s")
        let member = cluster.members[1]
        cluster.freeze(member)
        let line = "source 'app': 'http://127.0.0.1:\(member.port)' does not answer"
        func isTold() throws -> Bool {
            try daemon.control("status").output.contains(line)
        }
        try await daemon.awaitUntil("status tells it") { try isTold() }
        cluster.thaw(member)
        try await daemon.awaitUntil("it is over") { try !isTold() }
        #expect(try daemon.lines(with: "warning: source 'app': ").count == 1)
    }

    /// One that was restored from an old copy would take an order back at each second poll.
    @Test func aMemberOfAnotherHistoryTakesNothingBack() async throws {
        let cluster = try await EtcdCluster()
        let other = try await EtcdCluster()
        try other.put(.running)
        try other.kill(other.members[0])
        for _ in 0..<3 { try cluster.put(.maintenance) }
        let endpoints = [other, cluster].map { "\"http://127.0.0.1:\($0.members[0].port)\"" }
        let daemon = try Daemon(
            source: """
                type = "etcd"
                endpoints = [\(endpoints.joined(separator: ", "))]
                prefix = "/flags/"
                interval = "200ms"
                """, service: "format = \"status\"\nkey = \"shop\"")
        try await daemon.start(awaiting: "maintenance")
        try await other.start(other.members[0])
        let line = "'\(endpoints[0].dropFirst().dropLast())' is behind the other endpoints"
        try await daemon.awaitUntil("status tells it") {
            try daemon.control("status").output.contains(line)
        }
        let reads = try other.reads()
        try await daemon.awaitUntil("it was asked again") { try other.reads() > reads + 1 }
        try await cluster.put(.updateRequired, for: daemon)
        try await daemon.awaitStates(["maintenance", "update-required"])
    }
}

/// Servers that are not etcd, or a broken one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileGatewayTests {
    /// A server in this case, and a daemon that takes it for etcd, at these addresses.
    private func started(
        _ behaviour: String, hosts: [String] = ["127.0.0.1"], timeout: String = "10s"
    ) async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let endpoints = hosts.map { "\"http://\($0):\(server.port)\"" }.joined(separator: ", ")
        let daemon = try Daemon(
            source: """
                type = "etcd"
                endpoints = [\(endpoints)]
                prefix = "/flags/"
                interval = "24h"
                timeout = "\(timeout)"
                """, service: "format = \"status\"\nkey = \"shop\"")
        try daemon.start()
        return (server, daemon)
    }

    /// An endless watch, of lines or of one line without end, costs three fetches a second and no memory.
    @Test(arguments: ["etcd-events", "etcd-line"])
    func anEndlessWatchIsBounded(_ behaviour: String) async throws {
        let start = ContinuousClock.now
        let (server, daemon) = try await started(behaviour)
        try await daemon.awaitLine("the stream brings more than 16777216 bytes in a minute")
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let reads = try server.requests.count { $0.path == "/v3/kv/range" }
        #expect(Double(reads) <= 5 + 3 * seconds)
        #expect(try daemon.peakMemory < 48 << 20)
        #expect(try daemon.member("state") == #""running""#)
        #expect(try daemon.stop() == 0)
    }

    /// Another member is asked soon, and the last has all the time that is left: on a busy machine more than the usual
    /// seven seconds.
    @Test func membersThatAreAllSlowAreRead() async throws {
        let (server, daemon) = try await started(
            "etcd-slow", hosts: ["127.0.0.1", "localhost"], timeout: "60s")
        try await daemon.awaitState("running")
        #expect(try daemon.lines(with: "no complete answer") == [])
        withExtendedLifetime(server) {}
    }

    /// Single bytes keep a watch open and lead to no fetch.
    @Test func aSlowWatchIsHarmless() async throws {
        let (server, daemon) = try await started("etcd-drip")
        try await daemon.awaitState("running")
        try await waitUntil("the watch is open") {
            try server.requests.count { $0.path == "/v3/kv/range" } >= 2
        }
        try await daemon.pause(for: .seconds(1))
        #expect(try server.requests.count == 3)
        #expect(try daemon.warnings.isEmpty)
    }

    @Test(arguments: [
        ("page", "the answer is a web page, not JSON"),
        ("running", "the answer has no header as etcd writes it"),
        ("404", "the server answers 404 (not found)"),
        ("redirect-host", "the server answers 302"),
        ("large", "the answer is larger than 1048576 bytes"),
        // The watch would begin at the next revision, which is beyond 64 bits.
        ("etcd-last-revision", "the answer has no header as etcd writes it"),
    ])
    func anAnswerThatIsNotFromEtcdIsAFailure(_ behaviour: String, _ line: String) async throws {
        let (server, daemon) = try await started(behaviour)
        try await daemon.awaitLine(line)
        try await server.behave("etcd-drip", until: "running", of: daemon)
    }
}
