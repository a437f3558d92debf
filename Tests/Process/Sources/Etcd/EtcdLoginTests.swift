import Files
import Support
import Testing

/// etcd with authentication: passwords, tokens that expire, and permissions.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EtcdLoginTests {
    /// A cluster with the user `killswitchd`, who may read the flags; authentication is still off.
    private func cluster(options: [String] = []) async throws -> EtcdCluster {
        let cluster = try await EtcdCluster(options: options)
        try cluster.control("user", "add", "root:admin")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("role", "add", "reader")
        try cluster.control(
            "role", "grant-permission", "--prefix=true", "reader", "read", "/flags/")
        try cluster.control("user", "add", "killswitchd:pass word\"\\")
        try cluster.control("user", "grant-role", "killswitchd", "reader")
        return cluster
    }

    private func daemon(
        on cluster: EtcdCluster, password: String = "pass word\"\\\n", interval: String = "1h"
    ) throws -> Daemon {
        let daemon = try Daemon(
            on: cluster, interval: interval,
            source: """
                user = "killswitchd"
                password = "password"
                """)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write(password, to: "password")
        return daemon
    }

    private func switchOn(_ cluster: EtcdCluster) throws {
        try cluster.control("auth", "enable")
        cluster.login = "root:admin"
    }

    @Test func authenticationMayBeSwitchedOnAndOffWhileTheDaemonRuns() async throws {
        let cluster = try await cluster()
        try cluster.put(.running)
        let daemon = try daemon(on: cluster)
        try await daemon.start(awaiting: "running")
        try switchOn(cluster)
        try await cluster.put(.maintenance, for: daemon)
        // etcd keeps its tokens in memory only: a restart invalidates them.
        try await cluster.restart(cluster.members[0])
        try await cluster.put(.running, for: daemon)
        try cluster.control("auth", "disable")
        cluster.login = nil
        try await cluster.put(.updateRequired, for: daemon)
        #expect(try !daemon.log.contains("pass word"))
    }

    @Test func aTokenThatExpiredIsRenewed() async throws {
        let cluster = try await cluster(options: ["--auth-token-ttl", "1"])
        try switchOn(cluster)
        try cluster.put(.running)
        let daemon = try daemon(on: cluster, interval: "3s")
        try await daemon.start(awaiting: "running")
        for state in [StatusFlags.maintenance, .running, .maintenance] {
            try await daemon.pause(for: .milliseconds(2500))
            try await cluster.put(state, for: daemon)
        }
        #expect(try daemon.warnings.isEmpty)
    }

    /// The password is read for each login, so that it can be corrected while the daemon runs.
    @Test func aWrongPasswordIsAFailureThatNamesTheUserUntilItIsPutRight() async throws {
        let cluster = try await cluster()
        try switchOn(cluster)
        try cluster.put(.maintenance)
        let daemon = try daemon(on: cluster, password: "wrong", interval: "200ms")
        try daemon.start()
        try await daemon.awaitLine(
            "log in as 'killswitchd' at 'http://127.0.0.1:\(cluster.members[0].port)': the server "
                + "answers 400: etcdserver: authentication failed, invalid user ID or password")
        try daemon.folder.write("pass word\"\\", to: "password")
        try await daemon.awaitState("maintenance")
    }

    @Test(arguments: [
        ("", "the server answers 400: etcdserver: user name is empty"),
        ("user = \"guest\"\npassword = \"password\"", "etcdserver: permission denied"),
    ])
    func aLoginWithoutTheRightToReadIsReported(_ login: String, _ line: String) async throws {
        let cluster = try await cluster()
        try cluster.control("user", "add", "guest:guest")
        try switchOn(cluster)
        let daemon = try Daemon(on: cluster, source: login)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write("guest", to: "password")
        try await daemon.start(awaitingLine: line)
    }

    @Test func aPasswordThatIsMissingFailsItsSourceAndNotTheDaemon() async throws {
        let cluster = try await cluster()
        try switchOn(cluster)
        try cluster.put(.maintenance)
        let daemon = try daemon(on: cluster, interval: "200ms")
        try File.remove(daemon.folder("password"))
        try daemon.start()
        try await daemon.awaitLine("open '\(daemon.folder("password"))': no such file or directory")
        try daemon.folder.write("pass word\"\\", to: "password")
        try await daemon.awaitState("maintenance")
    }
}
