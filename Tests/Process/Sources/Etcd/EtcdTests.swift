import Files
import Support
import Testing

/// Flags in a real etcd. The daemons poll once an hour, so that they see changes by the watch.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EtcdTests {
    private static let runningByDefault = """
        [source.app.defaults]
        shop = '\(StatusFlags.running.text)'
        """

    @Test func aPutReachesTheVerdictWithoutAPoll() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed()
        for state in [StatusFlags.maintenance, .running, .updateRequired] {
            try await cluster.put(state, for: daemon)
        }
        let revision = try daemon.member("version")
        try cluster.control("put", "/other", "x")
        try cluster.control("put", "/flags/", "named nothing")
        try await cluster.put(.running, for: daemon)
        #expect(try daemon.member("version") != revision)
        #expect(try daemon.stop() == 0)
    }

    /// Keys that no service of this host reads once used up the hints of the watch, so that an order came seconds late.
    @Test func changesOfForeignKeysCauseNoFetch() async throws {
        let cluster = try await EtcdCluster()
        try cluster.put(.running)
        let before = try cluster.reads()
        let daemon = try await Daemon(on: cluster).start(awaiting: "running")
        // The watch hints once when it opens.
        try await waitUntil("the watch is open") { try cluster.reads() >= before + 2 }
        for number in 0..<40 { try cluster.control("put", "/flags/foreign\(number)", "x") }
        try cluster.control("del", "--prefix", "/flags/foreign")
        try await cluster.put(.maintenance, for: daemon)
        #expect(try cluster.reads() == before + 3)
    }

    /// A service that a reload adds reads a key whose changes were not followed before.
    @Test func aReloadThatReadsAnotherKeyFetchesIt() async throws {
        let cluster = try await EtcdCluster()
        try cluster.put(.running, of: "books")
        let daemon = try await cluster.followed()
        try cluster.put(.maintenance, of: "books")
        let configuration = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.reload(
            configuration
                + "\n[service.books]\nsource = \"app\"\nformat = \"status\"\nkey = \"books\"\n")
        try await daemon.awaitState("maintenance", of: "books")
        try cluster.put(.updateRequired, of: "books")
        try await daemon.awaitState("update-required", of: "books")
        try await cluster.put(.maintenance, for: daemon)
    }

    /// What a key of any length can hold: a Boolean, a state word, and the key that is the prefix itself.
    @Test func wordsInKeysAreOrders() async throws {
        let cluster = try await EtcdCluster()
        try cluster.control("put", "/words/shop-closed", "off")
        try cluster.control("put", "/words/mail", "running")
        try cluster.control("put", "/words/", "running")
        let daemon = try Daemon(
            """
            [source.app]
            type = "etcd"
            endpoints = \(cluster.endpoints)
            prefix = "/words/"
            interval = "24h"
            """
                + Daemon.service(
                    on: "app", format: "boolean", "key = \"shop-closed\"", "closed_when = true",
                    "min_closed = \"0s\"")
                + Daemon.service("mail", on: "app", format: "switch", "key = \"mail\"")
                + Daemon.service("all", on: "app", format: "switch"), flags: nil)
        try await daemon.start(awaiting: "running")
        try cluster.control("put", "/words/shop-closed", "true")
        try await daemon.awaitState("maintenance")
        try cluster.control("put", "/words/mail", "ended")
        try await daemon.awaitState("ended", of: "mail")
        try cluster.control("put", "/words/", "update-required")
        try await daemon.awaitState("update-required", of: "all")
        try cluster.control("put", "/words/shop-closed", "1")
        try cluster.control("put", "/words/shop-closed", "closed")
        try await daemon.awaitReason("invalid-answer", state: "maintenance")
        try cluster.control("put", "/words/shop-closed", "No")
        try await daemon.awaitState("running")
        #expect(try daemon.member("state", of: "mail") == "\"ended\"")
    }

    /// A missing key is no order: the last order stays, unless there is a default.
    @Test func aDeletedKeyIsNoOrder() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed(.maintenance)
        try cluster.control("del", "/flags/shop")
        try await daemon.awaitReason("invalid-answer", state: "maintenance")
        try await daemon.awaitLine("key 'shop' is missing")
        try await cluster.put(.running, for: daemon)
        try await daemon.awaitReason("flags")
    }

    @Test func aKeyWhoseLeaseExpiresIsGoneAndTheDefaultTakesItsPlace() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try Daemon(on: cluster, after: Self.runningByDefault)
        try await daemon.start(awaiting: "running")
        let granted = try cluster.control("lease", "grant", "2")
        let lease = try #require(granted.split(separator: " ").dropFirst().first)
        try cluster.control(
            "put", "--lease", String(lease), "/flags/shop", StatusFlags.maintenance.text)
        try await daemon.awaitLine("maintenance (was running)")
        try await daemon.awaitLine("running (was maintenance)")
    }

    /// A value that is not UTF-8 is no order, and no default replaces it.
    @Test func aValueThatIsNoTextIsNoOrder() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try await cluster.followed(.maintenance, after: Self.runningByDefault)
        try shell("printf '\\377\\376' > \(daemon.folder("bytes"))")
        try shell(
            "ETCDCTL_API=3 etcdctl --endpoints http://127.0.0.1:\(cluster.members[0].port) "
                + "put /flags/shop < \(daemon.folder("bytes"))")
        try await daemon.awaitReason("invalid-answer", state: "maintenance")
        try cluster.control("put", "/flags/shop", "")
        try await cluster.put(.updateRequired, for: daemon)
    }

    @Test func withoutAKeyNothingIsOrdered() async throws {
        let cluster = try await EtcdCluster()
        let daemon = try Daemon(on: cluster, service: #"first_timeout = "1s""#)
        try await daemon.start(awaitingLine: "key 'shop' is missing")
        try await cluster.put(.maintenance, for: daemon)
    }

    @Test func certificatesOfBothSidesAreChecked() async throws {
        let cluster = try await EtcdCluster(isSecure: true)
        let daemon = try await cluster.followed(source: cluster.certificates)
        try await cluster.put(.maintenance, for: daemon)

        let stranger = try Daemon(on: cluster, source: "ca = \"\(cluster.folder("unknown.pem"))\"")
        try await stranger.start(awaitingLine: "certificate not accepted: ")
        #expect(try stranger.member("state") == #""undecided""#)
    }
}

extension Daemon {
    /// A daemon on the keys `/flags/…` of a cluster. By default it polls once an hour: it sees earlier
    /// changes by its watch. `source` and `service` are additional lines of those tables.
    convenience init(
        on cluster: EtcdCluster, interval: String = "24h", timeout: String = "6s",
        source: String = "", service: String = "", after: String = "", members: Int? = nil
    ) throws {
        try self.init(
            source: """
                type = "etcd"
                endpoints = \(cluster.endpoints(members ?? cluster.members.count))
                prefix = "/flags/"
                interval = "\(interval)"
                timeout = "\(timeout)"
                \(source)
                """, service: "format = \"status\"\nkey = \"shop\"\n\(service)\n\(after)")
    }
}

extension EtcdCluster {
    /// The lines of a source that shows the certificate of a client.
    var certificates: String {
        """
        ca = "\(folder("authority.pem"))"
        client_certificate = "\(folder("client.crt"))"
        client_key = "\(folder("client.key"))"

        """
    }

    func put(_ state: StatusFlags, of service: String = "shop") throws {
        try control("put", "/flags/\(service)", state.text)
    }

    func put(_ state: StatusFlags, for daemon: Daemon) async throws {
        try put(state)
        try await daemon.awaitState(state.rawValue)
    }

    /// The same, with retries of the put once there is a leader again. A put before that would be passed on to the
    /// leader that hangs, which passes it on when it goes on: it would undo a later one.
    func putWhenPossible(_ state: StatusFlags, for daemon: Daemon) async throws {
        try await waitUntil("a put is taken", every: .milliseconds(100)) {
            let attempt = Result {
                _ = try leader()
                try put(state)
            }
            return if case .success = attempt { true } else { false }
        }
        try await daemon.awaitState(state.rawValue)
    }

    /// A daemon that has taken flags of this state from here.
    func followed(
        _ state: StatusFlags = .running, interval: String = "24h", timeout: String = "6s",
        source: String = "", after: String = "", members: Int? = nil
    ) async throws -> Daemon {
        try put(state)
        let daemon = try Daemon(
            on: self, interval: interval, timeout: timeout, source: source, after: after,
            members: members)
        try await daemon.start(awaiting: state.rawValue)
        return daemon
    }
}
