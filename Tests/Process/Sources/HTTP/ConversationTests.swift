import Files
import Glibc
import Support
import Testing

/// The requests of the daemon, and how it takes the answers of a sound server.
@Suite(.timeLimit(.minutes(5))) struct ConversationTests {
    @Test func oneConnectionCarriesConditionalRequestsWithOurName() async throws {
        let (server, daemon) = try await Daemon.polling(
            source: #"headers = { X-Team = "shop floor" }"#)
        try await waitUntil("it asked thrice") { try server.requests.count > 2 }
        let request = try server.requests[2]
        #expect(request.method == "GET")
        #expect(request.path == "/flags")
        #expect(request.headers["if-none-match"] == #""running""#)
        #expect(try request.headers["user-agent"] == "killswitchd/\(Programs.version())")
        #expect(request.headers["accept"] == "application/json")
        #expect(request.headers["accept-encoding"] == "gzip")
        #expect(request.headers["x-team"] == "shop floor")
        #expect(try daemon.warnings.isEmpty)
    }

    /// A 304 to an unconditional request confirms nothing.
    @Test func a304WithoutAConditionIsNoAnswer() async throws {
        let server = try await FlagServer()
        try await server.behave("304")
        let daemon = try Daemon(asking: server)
        try daemon.start()
        try await daemon.awaitLine(
            "the server answers 304 (not modified) to a request without condition")
        #expect(try daemon.member("state") == #""undecided""#)
        try await server.behave("maintenance", until: "maintenance", of: daemon)
    }

    /// Servers may write an answer in more ways than most of them do (RFC 1952, RFC 9110 §5.6.1, §15.2,
    /// RFC 9112 §4, §6.3).
    @Test(arguments: [
        "members", "named-member", "same-length-twice", "no-coding", "interim",
        "field-like-a-status-line", "no-reason", "byte-by-byte",
    ])
    func anUnusualAnswerIsRead(_ name: String) async throws {
        let (_, daemon) = try await Daemon.polling(name, awaiting: "maintenance")
        #expect(try daemon.warnings.isEmpty)
    }

    @Test func retryIntervalIsThePaceWhileClosed() async throws {
        let (server, daemon) = try await Daemon.polling("retry-interval", awaiting: "maintenance")
        try await waitUntil("it asked thrice") { try server.requests.count > 2 }
        let times = try server.requests.map(\.time)
        #expect((0.85...1.5).contains(times[2] - times[1]))
        #expect(try daemon.warnings.isEmpty)
    }

    @Test func aRetryAfterOfAWeekIsCutToAnHour() async throws {
        let (server, daemon) = try await Daemon.polling()
        try await server.behave("week-503")
        try await daemon.awaitLine("retrying in 3600 s")
    }

    @Test func aRedirectOnTheSameHostIsFollowed() async throws {
        let (server, daemon) = try await Daemon.polling("redirect-once", awaiting: "maintenance")
        #expect(try server.requests.map(\.path).prefix(2) == ["/flags", "/moved"])
        #expect(try daemon.warnings.isEmpty)
    }

    /// A new ETag for the same flags is no change: nothing is written.
    @Test func theSameFlagsUnderAnotherETagWriteNothing() async throws {
        let (server, daemon) = try await Daemon.polling("same-body-other-etag")
        let stored = try File.modificationTime(of: daemon.folder("state/flags/app.json"))
        let count = try server.requests.count
        try await waitUntil("it asked more") { try server.requests.count > count + 3 }
        let written = try File.modificationTime(of: daemon.folder("state/flags/app.json"))
        #expect(written == stored)
        let tags = try server.requests.dropFirst(2).compactMap { $0.headers["if-none-match"] }
        #expect(Set(tags).count == tags.count)
    }

    @Test func aClosedConnectionIsReopenedWithoutAWarning() async throws {
        let (server, daemon) = try await Daemon.polling()
        try await server.behave("dropped")
        try await server.behave("maintenance", until: "maintenance", of: daemon)
        #expect(try daemon.warnings.isEmpty)
    }

    @Test func requestsGoToTheUnixSocketInsteadOfTheHost() async throws {
        let server = try await FlagServer()
        try await server.behave("maintenance")
        let daemon = try Daemon(
            asking: "http://flags.example/flags",
            source: #"unix_socket = "\#(server.folder("socket"))""#)
        daemon.environment = ["http_proxy": "http://127.0.0.1:1"]
        try await daemon.start(awaiting: "maintenance")
        #expect(try server.requests.first?.headers["host"] == "flags.example")
    }

    @Test func plainRequestsUseTheProxyOfTheEnvironment() async throws {
        let proxy = try await FlagServer()
        try await proxy.behave("maintenance")
        let daemon = try Daemon(asking: "http://flags.example/flags")
        daemon.environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
        try await daemon.start(awaiting: "maintenance")
        #expect(try proxy.requests.first?.path == "http://flags.example/flags")
    }

    @Test func secureRequestsTunnelThroughTheProxyOfTheEnvironment() async throws {
        let proxy = try await FlagServer()
        let server = try await FlagServer(isSecure: true)
        let daemon = try Daemon(
            asking: server, isSecure: true, source: #"headers = { X-Team = "b" }"#)
        daemon.environment = ["https_proxy": "http://127.0.0.1:\(proxy.port)"]
        try await daemon.start(awaiting: "running")
        let tunnel = try #require(try proxy.requests.first)
        #expect(tunnel.method == "CONNECT")
        #expect(tunnel.path == "localhost:\(server.port)")
        // The headers for the server do not go to the proxy.
        #expect(tunnel.headers["x-team"] == nil)
        #expect(try server.requests.first?.headers["x-team"] == "b")
    }

    /// The name of the server stops resolving and resolves again, by a hosts file that is mounted in the
    /// daemon's namespace.
    @Test(.enabled(if: geteuid() == 0, "only root can bring a hosts file of its own"))
    func aNameThatDoesNotResolveLeavesTheStoredFlagsInForce() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: "http://flags.test:\(server.port)/flags")
        let hosts = daemon.folder("hosts")
        try daemon.folder.write("hosts: files\n", to: "nsswitch")
        try daemon.folder.write("127.0.0.1 flags.test\n", to: "hosts")
        let script = """
            mount --bind \(hosts) /etc/hosts && mount --bind \(daemon.folder("nsswitch")) \
            /etc/nsswitch.conf && exec "$@"
            """
        let wrapper = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh"]
        try await daemon.start(through: wrapper, awaiting: "running")
        try daemon.stop()

        try shell(": > \(hosts)")
        try await daemon.start(
            through: wrapper, awaitingLine: "the name 'flags.test' does not resolve")
        try daemon.expect("running", "stored-flags")
        try await server.behave("maintenance")
        try shell("echo 127.0.0.1 flags.test > \(hosts)")
        try await daemon.awaitState("maintenance")
    }
}
