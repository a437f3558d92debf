import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// What clients that may only read can do to a decision, and to each other.
@Suite(.timeLimit(.minutes(5))) struct ReaderLoadTests {
    /// A program of a user who may not act, where the tester can become one.
    private func reader(_ user: Int, _ script: String, _ daemon: Daemon) throws -> Program {
        let ordinary =
            geteuid() == 0
            ? ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] : []
        let command =
            ordinary + ["/usr/bin/python3", "-c", script, daemon.folder("run/control.sock")]
        return try Program(command[0], Array(command.dropFirst()))
    }

    private func started(
        _ configuration: String = Daemon.shop, flags: String = Daemon.flags("no"),
        through wrapper: [String] = []
    ) throws -> Daemon {
        let daemon = try Daemon(configuration, flags: flags)
        // The test's folder is the tester's alone otherwise.
        unsafe chmod(daemon.folder.path, 0o755)
        try daemon.start(through: wrapper, waitingFor: "running")
        return daemon
    }

    /// 64 KB of one name were a reply of ten megabytes, 0.22 s of the loop and 110 MB each; forty clients of
    /// one user delayed a closing by 21 s.
    @Test func noNumberOfReadersDelaysAClosing() throws {
        let daemon = try started()
        let clients = try (0..<3).map { user in
            try reader(
                1042 + user,
                """
                import json, select, socket, sys
                call = {"parameters": {"services": ["shop"] * 7000}}
                status = json.dumps({"method": "io.killswitchd.Status", **call}).encode() + b"\\0"
                watch = json.dumps({"method": "io.killswitchd.Watch", "more": True, **call}).encode()
                clients = []
                for number in range(100):
                    client = socket.socket(socket.AF_UNIX)
                    client.connect(sys.argv[1])
                    client.sendall(watch + b"\\0" if number % 2 else status)
                    clients.append(client)
                print("begun", flush=True)
                while clients:
                    for client in select.select(clients, [], [])[0]:
                        try:
                            data = client.recv(1 << 20)
                            if not data: raise OSError
                            if data.endswith(b"\\0") and clients.index(client) % 2 == 0:
                                client.sendall(status)
                        except OSError: clients.remove(client)
                """, daemon)
        }
        try daemon.waitUntil("the readers are there") {
            try clients.allSatisfy { try $0.output == "begun\n" }
        }
        let loop = try EventLoop()
        var longest = Duration.zero
        for turn in 0..<10 {
            let isOpen = turn % 2 == 1
            let start = loop.now.boot
            try daemon.setFlags(isOpen ? "no" : "over")
            try daemon.waitFor(file: "run/shop/\(isOpen ? "open" : "closed")")
            longest = max(longest, loop.now.boot - start)
        }
        print("the longest closing under readers: \(longest)")
        // The readers themselves need the processors; 'Benchmarks/hostile/run' measures.
        #expect(longest < .seconds(1))
        withExtendedLifetime(clients) {}
    }

    /// The last client to ask once lost its connection, and clients that did not read kept theirs.
    @Test func aReaderThatDoesNotReadCostsItsOwnConnectionAlone() throws {
        let text = String(repeating: "x", count: 900_000)
        let daemon = try started(
            Daemon.service(format: "status"),
            flags: #"{"apiInactive": false, "forceUpdate": false, "userMessage": "\#(text)"}"#)
        let status = #"b'{"method": "io.killswitchd.Status"}\0'"#
        let deaf = try (0..<4).map { user in
            try reader(
                1042 + user,
                """
                import socket, sys, time
                clients = [socket.socket(socket.AF_UNIX) for _ in range(10)]
                for client in clients:
                    client.connect(sys.argv[1])
                    client.sendall(\(status))
                print("asked", flush=True)
                time.sleep(60)
                """, daemon)
        }
        try daemon.waitUntil("they have asked") {
            try deaf.allSatisfy { try $0.output == "asked\n" }
        }
        let slow = try reader(
            1050,
            """
            import socket, sys, time
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            for _ in range(3):
                client.sendall(\(status))
                data = b""
                while not data.endswith(b"\\0"):
                    more = client.recv(20000)
                    if not more: sys.exit("cut")
                    data += more
                    time.sleep(0.001)
            """, daemon)
        #expect(try slow.wait() == 0)
        #expect(try slow.errors == "")
        withExtendedLifetime(deaf) {}
    }

    /// The daemon's own descriptors are there whatever readers do, also where there are few.
    @Test func readersLeaveTheDescriptorsOfTheDaemonAlone() throws {
        let daemon = try started(through: ["/usr/bin/prlimit", "--nofile=100:100"])
        let many = try reader(
            1042,
            """
            import socket, sys, time
            clients = [socket.socket(socket.AF_UNIX) for _ in range(300)]
            for client in clients: client.connect(sys.argv[1])
            print("connected", flush=True)
            time.sleep(60)
            """, daemon)
        try daemon.waitUntil("they are there") { try many.output == "connected\n" }
        try daemon.setFlags("over", waitingFor: "ended")
        let reply = try daemon.control("status", "--json")
        let status = try #require(try JSON.Value.parse(Array(reply.output.utf8)).object)
        let process = try #require(status["daemon"]?.object)
        #expect(process["problem"] == .null && process["descriptor_limit"] == 100)
        let used = try #require(process["descriptors"]?.number?.int64)
        #expect(used < 70)
        withExtendedLifetime(many) {}
    }

    @Test func theSoftLimitIsRaisedToTheHardOne() throws {
        let daemon = try started(through: ["/usr/bin/prlimit", "--nofile=256:4096"])
        let process = try #require(daemon.program).processID
        let limits = String(
            decoding: try File.read("/proc/\(process)/limits", limit: 4096), as: UTF8.self)
        let line = try #require(
            limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["4096", "4096"])
    }
}

/// Many, slow, silent, huge or malformed clients lose their own connection and disturb nobody else.
@Suite(.timeLimit(.minutes(5))) struct CrowdTests {
    @Test func aCrowdOfClientsDelaysNoPollAndNoPing() async throws {
        let daemon = try Daemon(Daemon.followingFile(interval: "1s"))
        let crowd = try Program("/usr/bin/python3", [script("crowd.py"), daemon.folder.path])
        try daemon.waitFor(file: "listening")
        try daemon.start(["NOTIFY_SOCKET": daemon.folder("notify"), "WATCHDOG_USEC": "2000000"])
        let daemonID = try #require(daemon.program).processID
        try daemon.folder.write("\(daemonID)", to: "pid")
        #expect(try await crowd.end() == 0)
        #expect(try crowd.errors == "")
        let result = try #require(try JSON.Value.parse(try crowd.output).object)
        let number = { (key: String) throws -> Double in
            try #require(result[key]?.number?.double, "\(key)")
        }
        #expect(try number("served") == 500)
        #expect(try number("following") == 500)
        #expect(try number("told") == 500)
        #expect(result["huge_was_cut"] == true)
        #expect(result["answers_to_noise"] == 0)
        #expect(result["first_is_served_still"] == true)
        #expect(
            result["half_closed"] == [
                ["refused", "services", "sources"], ["process", "sources"], ["method"],
            ])
        print("a crowd at the control socket: \(try crowd.output)")
        // The kernel's buffer and the daemon's bound how much one client can queue.
        #expect(try number("deaf_asked") < 4_000_000)
        // In kilobytes, for more than five hundred clients. A sanitizer keeps freed memory, so the limit is
        // for the shipped programs alone.
        if Programs.areShipped {
            #expect(try number("memory_with_all") - number("memory_before") < 16_384)
        }
        // The service manager would end a daemon after two seconds of silence.
        #expect(try number("longest_without_ping") < 2)
        #expect(try number("longest_without_poll") < 3)
    }
}
