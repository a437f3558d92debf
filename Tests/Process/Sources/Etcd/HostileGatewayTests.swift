import Support
import Testing

/// Servers that are not etcd, or a broken one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileGatewayTests {
    /// A server in this case, and a daemon that takes it for etcd, at these addresses.
    private func started(
        _ behaviour: String, hosts: [String] = ["127.0.0.1"]
    ) async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let endpoints = hosts.map { "\"http://\($0):\(server.port)\"" }.joined(separator: ", ")
        let daemon = try Daemon(
            source: """
                type = "etcd"
                endpoints = [\(endpoints)]
                prefix = "/flags/"
                interval = "1h"
                """, service: "format = \"status\"\nkey = \"shop\"")
        try daemon.start()
        return (server, daemon)
    }

    /// An endless watch, of lines or of one line without end, costs ten fetches and no memory.
    @Test(arguments: ["etcd-events", "etcd-line"])
    func anEndlessWatchIsBounded(_ behaviour: String) async throws {
        let (server, daemon) = try await started(behaviour)
        try await daemon.awaitLine("the stream brings more than 16777216 bytes in a minute")
        #expect(try server.requests.count { $0.path == "/v3/kv/range" } <= 13)
        #expect(try daemon.peakMemory < 48 << 20)
        #expect(try daemon.member("state") == #""running""#)
        #expect(try daemon.stop() == 0)
    }

    /// Another member is tried soon, but an answer that comes later counts too.
    @Test func membersThatAreAllSlowAreRead() async throws {
        let (server, daemon) = try await started("etcd-slow", hosts: ["127.0.0.1", "127.0.0.2"])
        try await daemon.awaitState("running")
        #expect(try daemon.lines(with: "no complete answer").isEmpty)
        withExtendedLifetime(server) {}
    }

    /// Single bytes keep a watch open and lead to no fetch.
    @Test func aSlowWatchIsHarmless() async throws {
        let (server, daemon) = try await started("etcd-drip")
        try await daemon.awaitState("running")
        try await waitUntil("the watch is open") {
            try server.requests.count { $0.path == "/v3/kv/range" } == 2
        }
        try await daemon.pause(for: .seconds(1))
        #expect(try server.requests.count == 3)
        #expect(try daemon.warnings.isEmpty)
    }

    @Test(arguments: [
        ("page", "the answer is a web page, not JSON"),
        ("running", "the answer has no header as etcd writes it"),
        ("404", "the server answers 404 (not found)"),
        ("redirect-host", "the server answers 302"),
        ("large", "the answer is larger than 1048576 bytes"),
        // The watch would begin at the next revision, which is beyond 64 bits.
        ("etcd-last-revision", "the answer has no header as etcd writes it"),
    ])
    func anAnswerThatIsNotFromEtcdIsAFailure(_ behaviour: String, _ line: String) async throws {
        let (server, daemon) = try await started(behaviour)
        try await daemon.awaitLine(line)
        try await server.behave("etcd-drip", until: "running", of: daemon)
    }
}
