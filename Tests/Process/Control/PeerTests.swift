import Glibc
import Support
import Testing

/// Who may act, by the credentials that the kernel reports of the peer. In a mount namespace of the
/// daemon, group and passwd files of the test replace those of the machine.
@Suite(.timeLimit(.minutes(1)), .enabled(if: geteuid() == 0, "needs root")) struct PeerTests {
    private let daemon: Daemon

    init() throws {
        daemon = try Daemon()
        try daemon.folder.write("root:x:0:\nkillswitchd:x:4242:\n", to: "group")
        try daemon.folder.write(
            "root:x:0:0::/:/bin/sh\nalice:x:1042:1042::/:/bin/sh\n", to: "passwd")
        // By default only the user who runs the tests may enter the folder.
        unsafe chmod(daemon.folder.path, 0o755)
        try daemon.start(through: [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
            "for f in group passwd; do mount --bind \(daemon.folder.path)/$f /etc/$f; done; "
                + "exec \"$@\"", "sh",
        ])
        try daemon.waitFor("running")
    }

    private func control(
        _ arguments: [String], user: Int = 1042, groups: [Int] = []
    ) throws -> Program.Result {
        let list = groups.map(String.init).joined(separator: ",")
        return try Program.run(
            "/usr/bin/setpriv",
            ["--reuid=\(user)", "--regid=\(user)"]
                + (groups.isEmpty ? ["--clear-groups"] : ["--groups=\(list)"])
                + [try Programs.path(of: "killswitchctl")] + arguments
                + ["--runtime-directory", daemon.folder("run")])
    }

    static let orders = [
        ["force", "shop", "ended", "--for", "1h", "--reason", "x"], ["release", "shop"],
        ["refresh"], ["activate"], ["reload"], ["forget", "shop"],
    ]

    @Test(arguments: orders) func anOrdinaryUserMayNotAct(_ order: [String]) throws {
        let result = try control(order)
        #expect(result.status == 5)
        #expect(result.errors.contains("as root 'adduser USER killswitchd'"))
        #expect(try daemon.member("state") == "\"running\"")
    }

    @Test(arguments: [
        ["status"], ["is-open", "shop"], ["get", "shop", "state"],
        ["wait", "shop", "--for", "open"],
    ]) func anOrdinaryUserMayRead(_ command: [String]) throws {
        #expect(try control(command).status == 0)
    }

    @Test(arguments: orders) func aSupplementaryMemberOfTheGroupMayAct(_ order: [String]) throws {
        #expect(try control(order, groups: [27, 4242]).status == 0)
    }

    @Test func anOrderRecordsItsAuthor() throws {
        let known = try control(Self.orders[0], groups: [4242])
        #expect(known.output.contains(" by alice (uid 1042)\n"))
        let unknown = try control(Self.orders[0], user: 1043, groups: [4242])
        #expect(unknown.output.contains(" by uid 1043\n"))
        #expect(try daemon.member("override")?.contains(#""author":"uid 1043""#) == true)
    }

    @Test func ordinaryUsersCannotUseUpAllConnections() throws {
        let holding = try Program(
            "/usr/bin/setpriv",
            [
                "--reuid=1042", "--regid=1042", "--clear-groups", "/usr/bin/python3", "-c",
                """
                import socket, sys, time
                clients = [socket.socket(socket.AF_UNIX) for _ in range(700)]
                for client in clients: client.connect(sys.argv[1])
                closed = 0
                for client in clients[512:]:
                    closed += client.recv(1) == b""
                print("closed", closed, flush=True)
                time.sleep(60)
                """, daemon.folder("run/control.sock"),
            ])
        try daemon.waitUntil("every place is taken") {
            try holding.output == "closed 188\n"
        }
        #expect(try daemon.control("refresh").status == 0)
        #expect(try control(["refresh"], groups: [4242]).status == 0)
        #expect(try control(["refresh"]).status == 69)
    }
}
