import Files
import JSON
import Support
import Testing

/// Acknowledgements in a real etcd. The first put comes within a minute. The daemons move no gates, so that the status
/// is null: that of gates is tested with reports and on a booted system.
@Suite(.timeLimit(.minutes(10))) struct EtcdAcknowledgementTests {
    private static let acknowledge = "acknowledge = true"

    /// A cluster with the users `root` and `killswitchd`, who may read the flags.
    private func guarded(options: [String] = [], mayWrite: Bool) async throws -> EtcdCluster {
        let cluster = try await EtcdCluster(options: options)
        try cluster.control("user", "add", "root:admin")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("role", "add", "host")
        try cluster.control("role", "grant-permission", "--prefix=true", "host", "read", "/flags/")
        if mayWrite {
            try cluster.control(
                "role", "grant-permission", "--prefix=true", "host", "write", "/flags-ack/")
        }
        try cluster.control("user", "add", "killswitchd:secret")
        try cluster.control("user", "grant-role", "killswitchd", "host")
        try cluster.put(.running)
        try cluster.control("auth", "enable")
        cluster.login = "root:admin"
        return cluster
    }

    private func daemon(on cluster: EtcdCluster, timeout: String = "6s") throws -> Daemon {
        let daemon = try Daemon(
            on: cluster, timeout: timeout,
            source: """
                user = "killswitchd"
                password = "password"
                \(Self.acknowledge)
                """)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write("secret", to: "password")
        return daemon
    }

    /// The role may read the flags and write the acknowledgements, and nothing else.
    @Test func aHostSaysWhatItHasDecidedInAKeyWithoutALease() async throws {
        let cluster = try await guarded(mayWrite: true)
        let daemon = try await daemon(on: cluster).start(awaiting: "running")
        try await cluster.awaitAcknowledgement("running", from: daemon)
        let keys = try cluster.control("get", "--prefix", "/flags-ack/", "--keys-only")
            .split(separator: "\n")
        #expect(keys.count == 1)
        #expect(keys[0].wholeMatch(of: /\/flags-ack\/shop\/[0-9a-f]{32}/) != nil)
        let told = try #require(try cluster.acknowledgements().first)
        #expect(told["schema"] == 1)
        #expect(told["gate"] == "open")
        #expect(told["status"] == .null)
        #expect(try told["version"]?.string.map { "\"\($0)\"" } == daemon.member("version"))
        try await cluster.put(.maintenance, for: daemon)
        try await cluster.awaitAcknowledgement("maintenance", from: daemon)
        let stored = try cluster.control("get", "--prefix", "/flags-ack/", "-w", "json")
        #expect(!stored.contains("lease"))
        #expect(try cluster.acknowledgements().first?["gate"] == "closed")
        #expect(try daemon.warnings.isEmpty)
        try await daemon.awaitUntil("the metrics tell it") {
            let metrics = try daemon.folder.text(of: "run/metrics.prom")
            return metrics.contains(
                #"killswitch_acknowledgements_total{source="app",result="taken"} 2"#)
                && metrics.contains(#"killswitch_acknowledgement_up{source="app"} 1"#)
                && metrics.contains(#"killswitch_acknowledgements_waiting{source="app"} 0"#)
        }
        #expect(try daemon.stop() == 0)
    }

    /// The flags are read as before, and the order is carried out.
    @Test func withoutTheRightToWriteTheFlagsStillDecide() async throws {
        let cluster = try await guarded(mayWrite: false)
        let daemon = try await daemon(on: cluster).start(awaiting: "running")
        let line =
            "the acknowledgements of this host are not taken: put a key at "
            + "'http://127.0.0.1:\(cluster.members[0].port)': the server answers 403 (forbidden): "
            + "etcdserver: permission denied; its role needs the right to write '/flags-ack/'"
        try await daemon.awaitLine(line)
        #expect(try daemon.control("status").output.contains(line))
        try await cluster.put(.maintenance, for: daemon)
        #expect(try daemon.lines(with: "acknowledgements").count == 1)
        #expect(try cluster.acknowledgements().isEmpty)
        try await daemon.awaitUntil("the metrics tell it") {
            try daemon.folder.text(of: "run/metrics.prom")
                .contains(#"killswitch_acknowledgement_up{source="app"} 0"#)
        }
    }

    /// A restart makes all tokens void, and the cluster is away when the put is due.
    @Test func afterAnOutageTheClusterIsToldWhatIsSoByThen() async throws {
        let cluster = try await guarded(mayWrite: true)
        let daemon = try await daemon(on: cluster, timeout: "1s").start(awaiting: "running")
        try await cluster.awaitAcknowledgement("running", from: daemon)
        try daemon.control("force", "shop", "maintenance", "--for", "1h", "--reason", "test")
            .expect(0)
        try cluster.kill(cluster.members[0])
        try await daemon.awaitLine("the acknowledgements of this host are not taken: put a key at")
        try daemon.control("force", "shop", "ended", "--for", "1h", "--reason", "test").expect(0)
        try await cluster.start(cluster.members[0])
        try await cluster.awaitAcknowledgement("ended", from: daemon)
        try await daemon.awaitLine("over: source 'app': the acknowledgements of this host")
        #expect(try daemon.lines(with: "acknowledgements of this host are not taken").count == 2)
        #expect(try !daemon.control("status").output.contains("acknowledgements"))
    }

    /// One of three members hangs, maybe that of the watch.
    @Test func theMemberThatAnswersIsEnough() async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(
            interval: "3s", timeout: "20s", source: Self.acknowledge)
        try await cluster.awaitAcknowledgement("running", from: daemon)
        cluster.freeze(cluster.members[1])
        try await cluster.putWhenPossible(.maintenance, for: daemon)
        try await cluster.awaitAcknowledgement("maintenance", from: daemon)
        cluster.thaw(cluster.members[1])
    }

    /// The daemon puts and the command reads by the same certificate. A stranger learns and says nothing.
    @Test func certificatesOfBothSidesAreCheckedForAcknowledgementsToo() async throws {
        let cluster = try await EtcdCluster(isSecure: true)
        let daemon = try await cluster.followed(source: cluster.certificates + Self.acknowledge)
        try await cluster.awaitAcknowledgement("running", from: daemon)
        #expect(try daemon.warnings.isEmpty)
        let stranger = try Daemon(
            on: cluster,
            source: "ca = \"\(cluster.folder("authority.pem"))\"\n\(Self.acknowledge)")
        try await stranger.start(awaitingLine: "read the keys at")
        func fleet(of host: Daemon) throws -> Program.Result {
            try Programs.run(
                "killswitchctl",
                [
                    "fleet", "shop", "--etcd", "app", "--config",
                    host.folder("killswitchd.toml"), "--for", "running",
                ])
        }
        try fleet(of: daemon).expect(0, output: "1 of 1 host has obeyed\n")
        try fleet(of: stranger).expect(1, output: "it is not known which hosts have obeyed: etcd")
    }

    /// One key is read, within its limit, whatever hosts say beside it.
    @Test func aSignedDocumentIsReadWithoutTheAcknowledgementsBesideIt() async throws {
        let cluster = try await EtcdCluster()
        for number in 0..<50 {
            try cluster.control(
                "put", "/flags/shop-ack/shop/\(number)", String(repeating: "x", count: 512))
        }
        let daemon = try Daemon(
            source: """
                type = "etcd"
                endpoints = \(cluster.endpoints)
                prefix = "/flags/shop"
                interval = "1h"
                max_body = "4KiB"
                signers = "signers"
                audience = "prod"
                acknowledge = true
                """, service: "format = \"status\"\nkey = \"shop\"")
        try daemon.folder.write("", to: "signers")
        try await daemon.start(awaitingLine: "the cluster has no key '/flags/shop'")
        #expect(try daemon.lines(with: "larger than").isEmpty)
    }

    @Test func aReloadBeginsAndEndsTheAcknowledgements() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        let configuration = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.reload(
            configuration.replacing("interval = ", with: "acknowledge = true\ninterval = "))
        try await cluster.awaitAcknowledgement("running", from: daemon)
        try daemon.reload(configuration)
        try await cluster.put(.maintenance, for: daemon)
        try await daemon.awaitUntil("the metrics do not speak of them") {
            try !daemon.folder.text(of: "run/metrics.prom").contains("acknowledgement")
        }
        #expect(try cluster.acknowledgements().first?["state"] == "running")
    }
}

extension EtcdCluster {
    /// What hosts have said here.
    func acknowledgements() throws -> [JSON.Object] {
        try control("get", "--prefix", "/flags-ack/", "--print-value-only").split(separator: "\n")
            .compactMap { try JSON.Value.parse(String($0)).object }
    }

    /// Waits until a host has said this state, and nothing else.
    func awaitAcknowledgement(_ state: String, from daemon: Daemon) async throws {
        try await daemon.awaitUntil("'\(state)' is acknowledged") {
            try acknowledgements().map { $0["state"]?.string } == [state]
        }
    }
}
