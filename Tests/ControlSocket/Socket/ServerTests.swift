import ControlSocket
import EventLoop
import Glibc
import JSON
import POSIX
import Support
import Testing

/// The server of the control socket, on a real loop: the limits for one client.
@Suite(.timeLimit(.minutes(5))) struct ServerTests {
    private static let explain =
        #"{"method":"io.killswitchd.Explain","parameters":{"service":"shop"}}"# + "\0"
    private let folder: TemporaryFolder
    private let loop: EventLoop
    private let daemon: SimulatedDaemon

    init() throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
        daemon = try SimulatedDaemon()
        try daemon.answer(inactive: false)
        daemon.settle()
    }

    private func server() throws -> Server { try Server(loop, daemon, at: folder("socket")) }

    private func turn() throws { while try loop.runOnce(.milliseconds(20)) {} }

    @Test func callsInOnePieceAreAnsweredOneAfterTheOther() throws {
        let server = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.explain + Self.explain + Self.explain)
        client.finish()
        try turn()
        client.receive()
        #expect(client.messages == 3 && client.isCut)
        withExtendedLifetime(server) {}
    }

    @Test func aSlowReaderOfALongAnswerGetsAllOfIt() throws {
        daemon.message = String(repeating: "x", count: 400_000)
        let server = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.explain + Self.explain)
        while client.messages < 2 {
            try turn()
            client.receive()
        }
        #expect(client.received.count > 800_000 && !client.isCut)
        withExtendedLifetime(server) {}
    }

    @Test func anOrderWithoutAReplyIsFollowedByTheNextCall() throws {
        let server = try server()
        let client = try RawClient(folder("socket"))
        let force = MethodCall(
            interface: "io.killswitchd", method: "Force", parameters: .maintenance, replies: .none)
        client.send(String(decoding: force.message, as: UTF8.self) + Self.explain)
        try turn()
        #expect(server.isWaitedFor)
        daemon.settle()
        server.advance()
        try turn()
        client.receive()
        #expect(client.messages == 1 && !client.isCut && !server.isWaitedFor)
        #expect(daemon.state(of: "shop")?["state"] == "maintenance")
    }

    @Test func whoAsksNothingMakesRoomForTheNextClient() throws {
        let server = try server()
        let waiting = try RawClient(folder("socket"))
        let force = MethodCall(
            interface: "io.killswitchd", method: "Force", parameters: .maintenance)
        waiting.send(String(decoding: force.message, as: UTF8.self))
        try turn()
        let clients = try (0..<64).map { _ in try RawClient(folder("socket")) }
        try turn()
        for client in clients + [waiting] { client.receive() }
        #expect(clients.map(\.isCut) == [true] + Array(repeating: false, count: 63))
        #expect(!waiting.isCut)
        withExtendedLifetime(server) {}
    }

    @Test func aCallThatIsTooLongOrNoneEndsItsConnection() throws {
        let server = try server()
        let clients = try (0..<3).map { _ in try RawClient(folder("socket")) }
        clients[0].send(String(repeating: "x", count: 70_000))
        clients[1].send("{}\0")
        clients[2].send(Self.explain)
        try turn()
        for client in clients { client.receive() }
        #expect(clients.map(\.isCut) == [true, true, false])
        #expect(clients.map(\.messages) == [0, 0, 1])
        withExtendedLifetime(server) {}
    }

    /// Others than the user and the group of the file cannot even connect.
    @Test func theSocketIsForItsUserAndGroup() throws {
        let server = try server()
        var status = stat()
        #expect(unsafe lstat(folder("socket"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
        withExtendedLifetime(server) {}
    }

    @Test func aLiveSocketIsLeftAloneAndAStaleOneReplaced() throws {
        var first: Server? = try server()
        #expect(throws: SocketError("listen at", folder("socket"), .taken)) { try server() }
        first = nil
        let second = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.explain)
        try turn()
        client.receive()
        #expect(first == nil && client.messages == 1)
        withExtendedLifetime(second) {}
    }

    @Test func aPathThatIsTooLongIsReported() throws {
        let path = folder(String(repeating: "x", count: 100))
        #expect(throws: SocketError("listen at", path + ".new", .tooLong)) {
            try Server(loop, daemon, at: path)
        }
    }
}

/// A client of the socket that sends any bytes and never blocks.
final class RawClient {
    private let descriptor: Int32
    private(set) var received: [UInt8] = []
    private(set) var isCut = false

    init(_ path: String) throws {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(AF_UNIX, Int32(kind), 0)
        let result = unsafe SocketAddress.path(path).withKernelForm { address, length in
            unsafe connect(descriptor, address, length)
        }
        guard result == 0 else { throw TestFailure("connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    func receive() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                isCut = isCut || count == 0 || errno == ECONNRESET
                return
            }
            received += buffer[..<count]
        }
    }

    var messages: Int { received.count { $0 == 0 } }
}
