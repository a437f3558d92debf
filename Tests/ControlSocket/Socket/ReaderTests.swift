import CivilTime
import ControlSocket
import EventLoop
import Files
import Glibc
import Support
import Testing

/// Clients that may only read: what each user gets of the places, and when a connection ends. They are
/// programs of other users, so that the kernel says who they are.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "needs root")) struct ReaderTests {
    private let folder: TemporaryFolder
    private let loop: EventLoop
    private let daemon: SimulatedDaemon

    init() throws {
        folder = try TemporaryFolder()
        // The test's folder is the tester's alone otherwise.
        unsafe chmod(folder.path, 0o755)
        loop = try EventLoop()
        daemon = try SimulatedDaemon()
        try daemon.answer(inactive: false)
        daemon.settle { _ in }
    }

    private func server(_ change: (inout ServerLimits) -> Void) throws -> Server {
        try Server(loop, daemon, at: folder("socket"), change)
    }

    /// A client of this user: it connects so many times, sends, and prints how many of its connections are
    /// open each time that it is told to look.
    private func client(_ user: Int, connections: Int, sending text: String = "") throws -> Client {
        let program = try Program(
            "/usr/bin/setpriv",
            [
                "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3", "-c",
                """
                import select, socket, sys, time
                path, count, text = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
                clients, hangUps = [socket.socket(socket.AF_UNIX) for _ in range(count)], select.poll()
                for client in clients:
                    client.connect(path)
                    hangUps.register(client, 0)
                    try: client.sendall(text.replace(b"~", b"\\0"))
                    except OSError: pass
                while True:
                    print(count - len(hangUps.poll(0)), flush=True)
                    time.sleep(0.02)
                """, folder("socket"), "\(connections)", text,
            ])
        return Client(program: program)
    }

    private struct Client {
        let program: Program

        var open: Int? {
            get throws { try program.output.split(separator: "\n").last.flatMap { Int($0) } }
        }
    }

    /// Lets the server work until the clients have as many open connections.
    private func wait(for counts: [Int], of clients: [Client]) throws {
        let deadline = loop.now.boot + .seconds(20)
        while try clients.map({ try $0.open ?? -1 }) != counts {
            let seen = try clients.map { try $0.open }
            try #require(loop.now.boot < deadline, "\(seen)")
            try loop.runOnce(.milliseconds(5))
        }
    }

    @Test func aUserHasNoMoreThanAShareOfThePlaces() throws {
        let server = try server { $0.readersOfUser = 3 }
        let one = try client(1042, connections: 10)
        try wait(for: [3], of: [one])
        let two = try client(1043, connections: 2)
        try wait(for: [3, 2], of: [one, two])
        withExtendedLifetime(server) {}
    }

    @Test func aUserWithMorePlacesMakesRoomForOneWithFewer() throws {
        let server = try server { $0.readers = 4 }
        let one = try client(1042, connections: 4)
        try wait(for: [4], of: [one])
        let two = try client(1043, connections: 4)
        try wait(for: [2, 2], of: [one, two])
        withExtendedLifetime(server) {}
    }

    @Test func aClientThatMayActHasAPlaceWhateverReadersHave() throws {
        let server = try server { $0.connections = 4 }
        let one = try client(1042, connections: 4)
        try wait(for: [4], of: [one])
        let own = try RawClient(folder("socket"))
        own.send(#"{"method":"io.killswitchd.Status"}"# + "\0")
        while own.messages < 1, !own.isCut {
            try loop.runOnce(.milliseconds(5))
            own.receive()
        }
        #expect(own.messages == 1)
        try wait(for: [3], of: [one])
        withExtendedLifetime(server) {}
    }

    /// Silent, in the middle of a call, or in the middle of a reply: it ends. A stream without news does not.
    @Test(arguments: [
        ("", 0), ("{\"method\"", 0), ("{\"method\":\"io.killswitchd.Status\"}~", 0),
        ("{\"method\":\"io.killswitchd.Watch\",\"more\":true}~", 2),
    ]) func aReaderWhoseClientDoesNothingEnds(_ text: String, _ left: Int) throws {
        daemon.message = text.contains("Status") ? String(repeating: "x", count: 2_000_000) : ""
        let server = try server { $0.idle = .milliseconds(400) }
        let idle = try client(1042, connections: 2, sending: text)
        try wait(for: [2], of: [idle])
        let loop = loop
        let until = loop.now.boot + .milliseconds(1500)
        while loop.now.boot < until { try loop.runOnce(.milliseconds(20)) }
        try wait(for: [left], of: [idle])
        withExtendedLifetime(server) {}
    }

    /// Half a call in each of many connections is memory too.
    @Test func theBytesOfAUserAreBoundedAcrossItsConnections() throws {
        let server = try server { $0.bytesOfUser = 100_000 }
        let half =
            #"{"method":"io.killswitchd.Status","x":""# + String(repeating: "x", count: 40_000)
        let other = try client(1043, connections: 1, sending: half)
        try wait(for: [1], of: [other])
        let greedy = try client(1042, connections: 5, sending: half)
        try wait(for: [2, 1], of: [greedy, other])
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [
        (10_000, 640, 512), (640, 640, 512), (300, 300, 172), (100, 100, 50), (10, 10, 2),
        (0, 8, 0), (-500, 8, 0),
    ]) func fewDescriptorsLeaveFewPlacesForReaders(_ descriptors: Int, _ all: Int, _ readers: Int) {
        let limits = ServerLimits(within: descriptors)
        #expect((limits.connections, limits.readers) == (all, readers))
    }
}
