import ControlSocket
import EventLoop
import Glibc
import POSIX
import Support
import Testing

/// The server of the control socket, on a real loop: the limits for one client.
@Suite(.timeLimit(.minutes(5))) struct ServerTests {
    private static let status = #"{"method":"io.killswitchd.Status"}"# + "\0"
    private let folder: TemporaryFolder
    private let loop: EventLoop
    private let daemon: SimulatedDaemon

    init() throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
        daemon = try SimulatedDaemon()
        try daemon.answer(inactive: false)
        daemon.settle { _ in }
    }

    private func server(_ change: (inout ServerLimits) -> Void = { _ in }) throws -> Server {
        try Server(loop, daemon, at: folder("socket"), change)
    }

    private func turn() throws { while try loop.runOnce(.milliseconds(20)) {} }

    /// Turns until `client` has an answer or is cut: on a busy machine a reader may have to wait, because the
    /// time of the machine counts as the reader's.
    private func turn(until client: RawClient?) throws {
        guard let client else { return }
        repeat {
            try turn()
            client.receive()
        } while client.messages < 1 && !client.isCut
    }

    @Test func callsInOnePieceAreAnsweredOneAfterTheOther() throws {
        let server = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.status + Self.status + Self.status)
        client.finish()
        try turn()
        client.receive()
        #expect(client.messages == 3 && client.isCut)
        withExtendedLifetime(server) {}
    }

    @Test func anAnswerThatNobodyTakesIsBounded() throws {
        daemon.message = String(repeating: "x", count: 2_000_000)
        let server = try server { $0.bytes = 5_000_000 }
        let deaf = try (0..<3).map { _ in try RawClient(folder("socket")) }
        for client in deaf {
            client.send(Self.status)
            try turn()
        }
        // Who has not read for the longest time makes room, and not who has come last: two that do not
        // read would cost everybody else their replies.
        let reading = try RawClient(folder("socket"))
        reading.send(Self.status)
        try turn(until: reading)
        #expect(reading.messages == 1 && !reading.isCut)
        for client in deaf { client.receive() }
        #expect(deaf.map(\.isCut) == [true, true, false])
        withExtendedLifetime(server) {}
    }

    @Test func aSlowReaderOfALongAnswerGetsAllOfIt() throws {
        daemon.message = String(repeating: "x", count: 400_000)
        let server = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.status + Self.status)
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
        client.send(String(decoding: force.message, as: UTF8.self) + Self.status)
        try turn()
        daemon.settle { server.advance($0) }
        try turn()
        client.receive()
        #expect(client.messages == 1 && !client.isCut)
        let reply = String(decoding: client.received, as: UTF8.self)
        #expect(reply.contains(#""state":"maintenance""#))
    }

    @Test func aConnectionTooManyIsCut() throws {
        let server = try server { $0.connections = 2 }
        let clients = try (0..<3).map { _ in try RawClient(folder("socket")) }
        try turn()
        for client in clients { client.receive() }
        #expect(clients.map(\.isCut) == [false, false, true])
        withExtendedLifetime(server) {}
    }

    @Test func aPlaceIsFreeAgainWhenItsClientHasGone() throws {
        let server = try server { $0.connections = 1 }
        var client: RawClient? = try RawClient(folder("socket"))
        try turn()
        client = nil
        // On a busy machine the server may notice it later: readers come last.
        repeat {
            client = try RawClient(folder("socket"))
            client?.send(Self.status)
            try turn(until: client)
        } while client?.isCut == true
        #expect(client?.messages == 1)
        withExtendedLifetime(server) {}
    }

    @Test func aLiveSocketIsLeftAloneAndAStaleOneReplaced() throws {
        var first: Server? = try server()
        #expect(throws: SocketError("listen at", folder("socket"), .taken)) { try server() }
        first = nil
        let second = try server()
        let client = try RawClient(folder("socket"))
        client.send(Self.status)
        try turn(until: client)
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
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
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
