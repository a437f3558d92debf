import EventLoop
import Files
import Support
import Testing

/// A server whose clock is far from that of this host. It counts for the ends of its source if the kernel
/// does not call the clock of this host synchronised.
@Suite(.timeLimit(.minutes(5))) struct ServerClockTests {
    private let isSynchronised = EventLoop.isClockSynchronised ?? false

    /// A daemon whose server is `ahead` seconds, and announces an end in `end` seconds by the clock of
    /// this host.
    private func follow(_ ahead: Int, end: Int) async throws -> (Daemon, FlagServer) {
        let server = try await FlagServer()
        try await server.behave("clock_\(ahead)_\(end)")
        let daemon = try Daemon(
            asking: "http://127.0.0.1:\(server.port)/flags", format: "switch")
        try daemon.start()
        return (daemon, server)
    }

    @Test func aServerThatIsAheadEndsItsOwnService() async throws {
        let (daemon, server) = try await follow(172_800, end: 86_400)
        guard !isSynchronised else {
            try await daemon.awaitLine(
                "2 days ahead; killswitchd uses the clock of this host, which is synchronised")
            return try await daemon.awaitState("countdown")
        }
        try await daemon.awaitState("ended")
        #expect(try daemon.member("reason") == #""end-passed""#)
        #expect(try daemon.member("reason_text")?.contains("by the server's clock") == true)
        try await server.behave("clock_0_86400", until: "countdown", of: daemon)
        #expect(try daemon.member("reason") == #""flags""#)
    }

    /// The stored clock of the server counts until it answers: a restart takes nothing back.
    @Test func aRestartKeepsTheClockOfTheServer() async throws {
        let (daemon, server) = try await follow(172_800, end: 86_400)
        try await daemon.awaitState(isSynchronised ? "countdown" : "ended")
        try daemon.stop()
        try await server.behave("closed")
        try await daemon.start(awaitingLine: "the last good flags stay in force")
        #expect(try daemon.member("state") == (isSynchronised ? #""countdown""# : #""ended""#))
        #expect(try daemon.log.contains("shop: countdown") == isSynchronised)
    }
}
