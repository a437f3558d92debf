import CivilTime
import EventLoop
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
        #expect(request.headers["cache-control"] == "no-cache")
        #expect(try daemon.warnings.isEmpty)
    }

    /// A cache on the way answered for days, and no order came.
    @Test func theHeadersOfASourceMayAskACacheForMore() async throws {
        let (server, _) = try await Daemon.polling(
            source: #"headers = { cache-CONTROL = "max-age=5" }"#)
        #expect(try server.requests.first?.headers["cache-control"] == "max-age=5")
    }

    /// A cache on the way answered for days: the flags counted as new at each poll, and `max_stale` never came.
    @Test func flagsAreAsOldAsTheCacheSays() async throws {
        let server = try await FlagServer()
        try server.folder.write("720, 0", to: "age")
        try await server.behave("aged")
        let daemon = try Daemon(
            asking: server, service: "max_stale = \"10m\"\nwhen_stale = \"closed\"")
        try await daemon.start(awaiting: "maintenance")
        #expect(try daemon.member("reason") == #""stale-closed""#)
        try await daemon.awaitLine(
            "source 'app': a cache on the way answers in place of the server: its Age is over two")
        try await server.behave("running", until: "running", of: daemon)
    }

    /// A 304 to an unconditional request confirms nothing.
    @Test func a304WithoutAConditionIsNoAnswer() async throws {
        let server = try await FlagServer()
        try await server.behave("304")
        let daemon = try Daemon(asking: server).start()
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
        try await waitUntil("it asked six times") { try server.requests.count > 5 }
        let pauses = try Array(server.requests.map(\.time).dropFirst()).pauses
        // Without the member it asks ten times as often. A busy machine is late now and then.
        #expect(pauses.reduce(0, +) / Double(pauses.count) >= 0.85 && pauses.min() ?? 9 < 1.5)
        #expect(try daemon.warnings.isEmpty)
    }

    @Test func aRetryAfterOfAWeekIsObeyed() async throws {
        let (server, daemon) = try await Daemon.polling()
        try await server.behave("week-503")
        try await daemon.awaitLine("the server answers 503")
        let asked = try server.requests.count
        try await daemon.pause(for: .seconds(3))
        #expect(try server.requests.count == asked)
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
        try daemon.edit("timeout = \"30s\"", "timeout = \"9m\"")
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
    func afterAReloadDuringAFetchTheSourceAnswers(_ before: String, _ after: String) async throws {
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

/// A server whose clock is far from that of this host. It holds ends if the kernel does not call the clock of this host
/// synchronised.
@Suite(.timeLimit(.minutes(5))) struct ServerClockTests {
    private let isSynchronised = EventLoop.isClockSynchronised ?? false

    /// A daemon whose server is `ahead` seconds, and announces an end in `end` seconds by the clock of this host.
    private func follow(_ ahead: Int, end: Int) async throws -> (Daemon, FlagServer) {
        let server = try await FlagServer()
        try await server.behave("clock_\(ahead)_\(end)")
        let daemon = try Daemon(asking: "http://127.0.0.1:\(server.port)/flags", format: "switch")
        try daemon.start()
        return (daemon, server)
    }

    @Test func aServerThatIsAheadEndsNothing() async throws {
        let (daemon, server) = try await follow(172_800, end: 86_400)
        try await daemon.awaitLine(
            isSynchronised
                ? "2 days ahead; the clock of this host counts, because it is synchronised"
                : "2 days ahead; ends and windows are held until the clock of this host is right")
        try await daemon.awaitState("countdown")
        let reason = isSynchronised ? #""flags""# : #""clock-not-believed""#
        #expect(try daemon.member("reason") == reason)
        try await server.behave("clock_0_86400")
        try await daemon.awaitUntil("the clocks agree") {
            try daemon.member("reason") == #""flags""#
        }
        #expect(try daemon.member("state") == #""countdown""#)
    }

    /// The end has come by the clock of this host, and waits until the server agrees, also over a restart.
    @Test func aServerOfAnotherTimeHoldsAnEnd() async throws {
        let (daemon, server) = try await follow(172_800, end: 10)
        let time = EventLoop.wallClock + .seconds(11)
        try await daemon.awaitUntil("the end has come") { EventLoop.wallClock > time }
        try await daemon.awaitState(isSynchronised ? "ended" : "countdown")
        try daemon.stop()
        try daemon.start()
        try await daemon.awaitState(isSynchronised ? "ended" : "countdown")
        try await server.behave("clock_0_10")
        try await daemon.awaitState("ended")
    }
}
