import Files
import JSON
import Support
import Testing

/// What hosts say of themselves in a real etcd. The daemons move no gates: what units do is tested with reports and on
/// a booted system.
@Suite(.timeLimit(.minutes(10))) struct EtcdReportTests {
    private static let report = "\n[report]\netcd = \"app\"\nspread = \"0s\"\n"

    /// A cluster with the users `root` and `killswitchd`, who may read the flags.
    private func guarded(options: [String] = [], mayWrite: Bool) async throws -> EtcdCluster {
        let cluster = try await EtcdCluster(options: options)
        try cluster.control("user", "add", "root:admin")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("role", "add", "host")
        try cluster.control("role", "grant-permission", "--prefix=true", "host", "read", "/flags/")
        if mayWrite {
            try cluster.control(
                "role", "grant-permission", "--prefix=true", "host", "write", "/flags-hosts")
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
                """)
        try daemon.add(Self.report)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write("secret", to: "password")
        return daemon
    }

    /// The role may read the flags and write what hosts say, and nothing else.
    @Test func aHostSaysWhatItHasDecidedInAKeyWithoutALease() async throws {
        let cluster = try await guarded(mayWrite: true)
        let daemon = try await daemon(on: cluster).start(awaiting: "running")
        try await cluster.awaitBrief("running", from: daemon)
        let keys = try cluster.control("get", "--prefix", "/flags-hosts", "--keys-only")
            .split(separator: "\n")
        #expect(keys.count == 1)
        #expect(keys[0].wholeMatch(of: /\/flags-hosts\/[0-9a-f]{32}/) != nil)
        let shop = try #require(try cluster.briefs().first?["services"]?.array?.first?.object)
        #expect(shop["gate"] == "open")
        #expect(try shop["version"]?.string.map { "\"\($0)\"" } == daemon.member("version"))
        try await cluster.put(.maintenance, for: daemon)
        try await cluster.awaitBrief("maintenance", from: daemon)
        let stored = try cluster.control("get", "--prefix", "/flags-hosts", "-w", "json")
        #expect(!stored.contains("lease"))
        let value = try cluster.control("get", "--prefix", "/flags-hosts/", "--print-value-only")
        try daemon.folder.write(value, to: "brief.json")
        try daemon.folder.validate("brief.json", by: "brief.schema.json")
        #expect(try daemon.warnings.isEmpty)
        #expect(try daemon.stop() == 0)
    }

    /// The flags are read as before, and the order is carried out.
    @Test func withoutTheRightToWriteTheFlagsStillDecide() async throws {
        let cluster = try await guarded(mayWrite: false)
        let daemon = try await daemon(on: cluster).start(awaiting: "running")
        let line =
            "the host's state is not reported: put a key at "
            + "'http://127.0.0.1:\(cluster.members[0].port)': the server answers 403 (forbidden): "
            + "etcdserver: permission denied; its role needs the right to write what begins with '/flags-hosts'"
        try await daemon.awaitLine(line)
        try await daemon.awaitUntil("status says so") {
            try daemon.control("status").errors.contains(line)
        }
        try await cluster.put(.maintenance, for: daemon)
        #expect(try daemon.lines(with: "is not reported").count == 1)
        #expect(try cluster.briefs().isEmpty)
    }

    /// A restart makes all tokens void, and the cluster is away when the put is due.
    @Test func afterAnOutageTheClusterIsToldWhatIsSoByThen() async throws {
        let cluster = try await guarded(mayWrite: true)
        let daemon = try await daemon(on: cluster, timeout: "1s").start(awaiting: "running")
        try await cluster.awaitBrief("running", from: daemon)
        try daemon.control("close", "shop", "--for", "1h", "--reason", "test")
            .expect(0)
        try cluster.kill(cluster.members[0])
        try await daemon.awaitLine("the host's state is not reported: put a key at")
        try daemon.control("close", "shop", "--state", "ended", "--for", "1h", "--reason", "test")
            .expect(0)
        try await cluster.start(cluster.members[0])
        try await cluster.awaitBrief("ended", from: daemon)
        try await daemon.awaitLine("over: the host's state is not reported")
        #expect(try daemon.lines(with: "the host's state is not reported").count == 2)
        try await daemon.awaitUntil("status does not say so any more", every: .milliseconds(100)) {
            try !daemon.control("status").errors.contains("is not reported")
        }
    }

    /// The copy is older than the brief, and the host has nothing new to say.
    @Test func aRestoredClusterGetsTheBriefAgain() async throws {
        let cluster = try await EtcdCluster()
        let member = cluster.members[0]
        let daemon = try await cluster.followed(timeout: "1s")
        let copy = daemon.folder("copy.db")
        try cluster.control("snapshot", "save", copy)
        try daemon.reload(try daemon.folder.text(of: "killswitchd.toml") + Self.report)
        try await cluster.awaitBrief("running", from: daemon)
        for number in 0..<20 { try cluster.control("put", "/other", "\(number)") }
        // The state changes and changes back while the cluster is away: the next attempt is a sign of life.
        try cluster.kill(member)
        try daemon.control("close", "shop", "--for", "1h", "--reason", "test")
            .expect(0)
        try await daemon.awaitLine("the host's state is not reported: put a key at")
        try daemon.control("release", "shop").expect(0)
        try cluster.restore(member, from: copy)
        try await cluster.start(member)
        try await daemon.awaitUntil("the host gives a sign of life") {
            try cluster.control("get", "--prefix", "/flags-hosts-alive/", "--print-value-only")
                .wholeMatch(of: /[0-9a-f]{16}\n/) != nil
        }
        try await cluster.awaitBrief("running", from: daemon)
    }

    /// One of three members hangs, maybe that of the watch.
    @Test func theMemberThatAnswersIsEnough() async throws {
        let cluster = try await EtcdCluster(size: 3)
        let daemon = try await cluster.followed(interval: "3s", timeout: "20s")
        try daemon.reload(try daemon.folder.text(of: "killswitchd.toml") + Self.report)
        try await cluster.awaitBrief("running", from: daemon)
        cluster.freeze(cluster.members[1])
        try await cluster.putWhenPossible(.maintenance, for: daemon)
        try await cluster.awaitBrief("maintenance", from: daemon)
        cluster.thaw(cluster.members[1])
    }

    /// The daemon puts and the command reads by the same certificate. A stranger learns and says nothing.
    @Test func certificatesOfBothSidesAreCheckedForReportsToo() async throws {
        let cluster = try await EtcdCluster(isSecure: true)
        let daemon = try await cluster.followed(source: cluster.certificates)
        try daemon.reload(try daemon.folder.text(of: "killswitchd.toml") + Self.report)
        try await cluster.awaitBrief("running", from: daemon)
        #expect(try daemon.warnings.isEmpty)
        let stranger = try Daemon(
            on: cluster,
            source: "ca = \"\(cluster.folder("authority.pem"))\"")
        try stranger.add(Self.report)
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
    @Test func aSignedDocumentIsReadWithoutWhatHostsSayBesideIt() async throws {
        let cluster = try await EtcdCluster()
        for number in 0..<50 {
            try cluster.control(
                "put", "/flags/shop-hosts/\(number)", String(repeating: "x", count: 512))
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
                """, service: "format = \"status\"\nkey = \"shop\"")
        try daemon.add(Self.report)
        try daemon.folder.write("", to: "signers")
        try await daemon.start(awaitingLine: "the cluster has no key '/flags/shop'")
        #expect(try daemon.lines(with: "larger than").isEmpty)
    }

    @Test func aReloadBeginsAndEndsIt() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        let configuration = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.reload(configuration + Self.report)
        try await cluster.awaitBrief("running", from: daemon)
        try daemon.reload(configuration)
        try await cluster.put(.maintenance, for: daemon)
        try await daemon.pause(for: .seconds(8))
        #expect(try cluster.states() == ["running"])
    }
}

extension Daemon {
    /// Adds lines to the configuration before the start.
    fileprivate func add(_ lines: String) throws {
        try folder.write(try folder.text(of: "killswitchd.toml") + lines, to: "killswitchd.toml")
    }
}

extension EtcdCluster {
    /// What hosts have said here.
    func briefs() throws -> [JSON.Object] {
        try control("get", "--prefix", "/flags-hosts/", "--print-value-only").split(separator: "\n")
            .compactMap { try JSON.Value.parse(String($0)).object }
    }

    /// The state of the first service of each host.
    func states() throws -> [String?] {
        try briefs().map { $0["services"]?.array?.first?.object?["state"]?.string }
    }

    /// Waits until one host says this state, and no other host says anything.
    func awaitBrief(_ state: String, from daemon: Daemon) async throws {
        try await daemon.awaitUntil("the host says '\(state)'") { try states() == [state] }
    }
}
