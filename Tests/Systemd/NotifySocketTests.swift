import POSIX
import Support
import Systemd
import Testing

/// Messages to a service manager, which is a socket of the test.
@Suite(.timeLimit(.minutes(5))) struct NotifySocketTests {
    @Test func messagesOfOneCallAreOneDatagram() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("notify"))
        let listener = try DatagramListener(address)
        let socket = try NotifySocket(address)
        try socket.send([.ready, .status("all is well")])
        try socket.send([])
        try socket.send([.watchdog])
        #expect(try listener.next() == "READY=1\nSTATUS=all is well")
        #expect(try listener.next() == "WATCHDOG=1")
    }

    @Test func anAbstractSocketIsReachedToo() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.abstract("killswitchd-test\(folder.path)")
        let listener = try DatagramListener(address)
        try NotifySocket(address).send([.stopping])
        #expect(try listener.next() == "STOPPING=1")
    }

    @Test func aServiceManagerThatTakesNothingIsNotWaitedFor() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("notify"))
        let listener = try DatagramListener(address)
        let socket = try NotifySocket(address)
        let error = try #require(throws: SystemError.self) {
            for _ in 0..<100_000 { try socket.send([.watchdog]) }
        }
        #expect(error.isReceiverFull)
        #expect("\(error)" == "send to '\(address)': resource temporarily unavailable")
        withExtendedLifetime(listener) {}
    }

    @Test func aServiceManagerThatIsGoneIsAnError() throws {
        let folder = try TemporaryFolder()
        let socket = try NotifySocket(.path(folder("nothing")))
        #expect(throws: SystemError.self) { try socket.send([.ready]) }
        let tooLong = try NotifySocket(.path("/" + String(repeating: "x", count: 200)))
        #expect(throws: SystemError.self) { try tooLong.send([.ready]) }
    }
}
