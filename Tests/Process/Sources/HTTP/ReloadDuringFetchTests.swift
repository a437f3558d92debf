import Glibc
import Support
import Testing

/// A reload while a fetch is in flight.
@Suite(.timeLimit(.minutes(5))) struct ReloadDuringFetchTests {
    /// A daemon whose first fetch is in flight. Its server will answer the next request.
    private func waiting(
        on server: FlagServer, source: String
    ) async throws -> (daemon: Daemon, requests: Int) {
        try await server.behave("silence")
        let daemon = try Daemon(asking: server, source: source)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write("first-token\n", to: "token")
        try daemon.edit("timeout = \"2s\"", "timeout = \"9m\"")
        try daemon.start()
        try await waitUntil("it asks") { try !server.requests.isEmpty }
        try await server.behave("maintenance")
        return (daemon, try server.requests.count)
    }

    private func reload(_ daemon: Daemon) async throws {
        daemon.program?.send(SIGHUP)
        try await daemon.awaitLine("was read again: 1 service")
    }

    /// Once the new credential kept the fetch from being repeated, and the machine still counted it as in
    /// flight: the source was not polled until a restart.
    @Test func aReloadFetchesWithTheReplacedTokenAtOnce() async throws {
        let server = try await FlagServer()
        let (daemon, _) = try await waiting(on: server, source: #"bearer = "token""#)
        try daemon.folder.write("other-token\n", to: "token")
        try daemon.edit("timeout = \"9m\"", "timeout = \"8m\"")
        try await reload(daemon)
        try await daemon.awaitState("maintenance")
        try await server.behave("running", until: "running", of: daemon)
        #expect(try server.requests.last?.headers["authorization"] == "Bearer other-token")
        #expect(try daemon.warnings.isEmpty)
    }

    /// Once both the driver and the machine repeated the fetch, and the daemon crashed.
    @Test(arguments: [
        (#"interval = "100ms""#, "interval = \"100ms\"\ndefaults = { x = 1 }"),
        ("timeout = \"9m\"", "timeout = \"8m\""),
        ("max_body = 10000", "max_body = 20000"),
        ("ca = \"/a.pem\"", "ca = \"/b.pem\""),
        ("/flags\"", "/others\""),
    ])
    func afterAReloadDuringAFetchTheSourceAnswers(
        _ before: String, _ after: String
    ) async throws {
        let server = try await FlagServer()
        let (daemon, requests) = try await waiting(
            on: server, source: "max_body = 10000\nca = \"/a.pem\"")
        try daemon.edit(before, after)
        try await reload(daemon)
        // A change of interval or defaults keeps the source object, and its fetch in flight.
        if before.hasPrefix("interval") { try await server.behave("dropped") }
        try await server.behave("maintenance", until: "maintenance", of: daemon)
        #expect(try server.requests[requests...].allSatisfy { $0.behaviour != "silence" })
        #expect(try daemon.stop() == 0)
    }
}
