import Glibc
import Support
import Testing

/// Who may act, by the credentials that the kernel reports of the peer. In a mount namespace of the
/// daemon, group and passwd files of the test replace those of the machine.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "needs root")) struct PeerTests {
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
        ["close", "shop", "--state", "ended", "--for", "1h", "--reason", "x"], ["release", "shop"],
        ["refresh"], ["activate"], ["reload"], ["forget", "shop"],
    ]

    @Test(arguments: orders) func anOrdinaryUserMayNotAct(_ order: [String]) throws {
        try control(order).expect(5, errors: "as root 'adduser USER killswitchd'")
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
        #expect(known.output.contains(" by alice (uid 1042) until "))
        let unknown = try control(Self.orders[0], user: 1043, groups: [4242])
        #expect(unknown.output.contains(" by uid 1043 until "))
        #expect(try daemon.member("override")?.contains(#""author":"uid 1043""#) == true)
    }

    /// The directory of the stored flags is the daemon's alone; a member of the group asks the daemon.
    @Test func aMemberOfTheGroupSeesTheWholeExplanation() throws {
        try #require(unsafe chmod(daemon.folder("state"), 0o700) == 0)
        let explain = { (groups: String) in
            try Program.run(
                "/usr/bin/setpriv",
                [
                    "--reuid=1042", "--regid=1042", groups,
                    try Programs.path(of: "killswitchctl"), "explain", "shop",
                ],
                environment: [
                    "RUNTIME_DIRECTORY": daemon.folder("run"),
                    "STATE_DIRECTORY": daemon.folder("state"),
                ])
        }
        try explain("--groups=4242").expect(0, output: #"flags   service_end = "no""#, "policy")
        let other = try explain("--clear-groups")
        #expect(
            other.output.contains("not shown: not permitted: only root and members"), "\(other)")
    }

    /// A login sets the login uid once, as pam_loginuid(8) does, and sudo(8) sets `SUDO_USER`.
    @Test(arguments: [
        ("echo 1042 > /proc/self/loginuid", "alice (login uid 1042) as root (uid 0)"),
        (
            "echo 1042 > /proc/self/loginuid; export SUDO_USER=alice",
            "alice (login uid 1042, SUDO_USER) as root (uid 0)"
        ), ("export SUDO_USER=alice", "alice (SUDO_USER) as root (uid 0)"),
        ("export SUDO_USER='(login uid 0)'", "root (uid 0)"),
    ]) func anOrderBySudoIsRecordedAsThePerson(_ login: String, _ author: String) throws {
        let result = try Program.run(
            "/bin/sh",
            [
                "-c", "\(login); exec \"$@\"", "sh", try Programs.path(of: "killswitchctl"),
                "close", "shop", "--state", "ended", "--for", "1h", "--reason", "x",
                "--runtime-directory",
                daemon.folder("run"),
            ])
        #expect(result.output.contains(" by \(author) until "), "\(result)")
        #expect(try daemon.log.contains("forced by '\(author)' until "))
    }

    /// A user who may act cannot be recorded as another user by passing that user's file.
    @Test func theLoginOfAnotherProcessIsNotTaken() throws {
        let script = """
            import array, json, os, socket, subprocess, sys
            other = subprocess.Popen(["/bin/sh", "-c", "echo 1042 > /proc/self/loginuid; echo; exec sleep 60"],
                stdout=subprocess.PIPE)
            other.stdout.readline()
            file = os.open(f"/proc/{other.pid}/loginuid", os.O_RDONLY)
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            call = {"method": "io.killswitchd.Force", "parameters": {"service": "shop", "state": "ended",
                "reason": "x", "seconds": 60}}
            socket.send_fds(client, [json.dumps(call).encode() + bytes(1)], [file, file])
            print(client.recv(65536).split(b"\\0")[0].decode())
            other.kill()
            """
        let result = try Program.run(
            "/usr/bin/python3", ["-c", script, daemon.folder("run/control.sock")])
        #expect(result.output.contains(#""author":"root (uid 0)""#), "\(result)")
    }

    /// Not even a client of its own making: it cannot connect, and the daemon goes on as if nobody was there.
    @Test func anOrdinaryUserReachesNothing() throws {
        let result = try Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid=1042", "--regid=1042", "--clear-groups", "/usr/bin/python3", "-c",
                """
                import socket, sys
                for _ in range(700):
                    try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
                    except PermissionError: continue
                    sys.exit("connected")
                """, daemon.folder("run/control.sock"),
            ])
        #expect(result.status == 0 && result.errors == "")
        #expect(try daemon.control("refresh").status == 0)
    }

    /// Where the file lets somebody through, the peer is looked at all the same.
    @Test func aPeerThatMayNotIsToldSo() throws {
        try #require(unsafe chmod(daemon.folder("run/control.sock"), 0o666) == 0)
        let result = try Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid=1042", "--regid=1042", "--clear-groups", "/usr/bin/python3", "-c",
                """
                import socket, sys
                client = socket.socket(socket.AF_UNIX)
                client.connect(sys.argv[1])
                print(client.recv(4096), client.recv(4096))
                """, daemon.folder("run/control.sock"),
            ])
        #expect(result.output.contains("io.killswitchd.NotPermitted"), "\(result)")
        for order in Self.orders {
            try control(order).expect(5, errors: "as root 'adduser USER killswitchd'")
        }
    }
}
