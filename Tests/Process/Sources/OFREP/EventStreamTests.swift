import Files
import Glibc
import Support
import Testing

/// The events of a server of OpenFeature. The daemons poll once an hour, so that they see changes by events.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EventStreamTests {
    /// A server in this case, and a daemon that has taken its flags of a running service.
    private func started(
        _ behaviour: String = "normal", interval: String = "1h"
    ) async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer.ofrep()
        try await server.behave(behaviour)
        let daemon = try Daemon(evaluatedBy: server, interval: interval)
        try await daemon.start(awaiting: "running")
        return (server, daemon)
    }

    @Test func anEventLeadsToAFetchThatNamesTheEvent() async throws {
        let (server, daemon) = try await started()
        try await waitUntil("the stream is open") { try server.evaluations.count >= 2 }
        #expect(try server.evaluations.count == 2)
        try await server.hold("maintenance", for: daemon)
        let last = try #require(try server.evaluations.last)
        #expect(last.path.hasPrefix("/ofrep/v1/evaluate/flags?flagConfigEtag=%22"))
        #expect(last.path.contains("&flagConfigLastModified=1"))
        #expect(last.headers["if-none-match"] != nil)
        #expect(try server.streams.first?.headers["accept"] == "text/event-stream")
        #expect(try server.streams.first?.headers["last-event-id"] == nil)

        // A change while the stream is down is seen when the stream is open again.
        try await server.behave("closed")
        try server.hold("running")
        try await server.behave("normal", until: "running", of: daemon)
        #expect(try server.streams.last?.headers["last-event-id"] == "event-1")
        #expect(try !daemon.log.contains("secret"))
    }

    @Test func whereNoStreamIsOfferedTheFlagsArePolled() async throws {
        let (server, daemon) = try await started("no-streams", interval: "100ms")
        try await server.hold("maintenance", for: daemon)
        #expect(try server.streams.isEmpty)
        // A stream that is offered later is followed.
        try await server.behave("normal")
        try server.hold("running")
        try await server.awaitStream()
    }

    /// The address of a stream grants access to it. The credentials go to the configured server only.
    @Test func anotherOriginGetsNoCredentials() async throws {
        let server = try await FlagServer.ofrep()
        try await server.behave("other-origin")
        try server.folder.write("one", to: "bearer")
        let daemon = try Daemon(
            evaluatedBy: server, interval: "1h",
            source: """
                bearer = "bearer"
                stream_hosts = ["http://127.0.0.2:\(server.port)"]
                """)
        daemon.environment = ["CREDENTIALS_DIRECTORY": server.folder.path]
        try await daemon.start(awaiting: "running")
        try await server.awaitStream()
        let request = try #require(try server.streams.first)
        #expect(request.headers["host"]?.hasPrefix("127.0.0.2:") == true)
        #expect(request.headers["authorization"] == nil)
    }

    /// A server that somebody has taken over would have each host ask any address, also a metadata service.
    @Test func aStreamAtAHostThatNobodyNamedIsNotAskedFor() async throws {
        let (server, daemon) = try await started("other-origin", interval: "100ms")
        let warning =
            "the server names a stream of events at 'http://127.0.0.2:\(server.port)', which is neither "
            + "the host of 'url' nor in 'stream_hosts'; it is not followed, and polls go on"
        try await daemon.awaitLine(warning)
        try await daemon.awaitStatus(warning)
        #expect(try !daemon.log.contains("secret"))
        try await server.hold("maintenance", for: daemon)
        #expect(try server.streams.isEmpty)
        // The server's own stream is followed again, and the warning ends.
        try await server.behave("normal")
        try await server.hold("running", for: daemon)
        try await server.awaitStream()
        try await waitUntil("the warning has ended") {
            try !daemon.control("status").output.contains(warning)
        }
    }

    @Test func aStreamThatIsAWebPageIsReported() async throws {
        let (server, daemon) = try await started("plain-page")
        try await daemon.awaitLine(
            "the stream is not of events, but 'text/html'; changes are seen at the next poll only")
        #expect(try !server.streams.isEmpty)
    }

    /// A hostile stream costs ten fetches, and then one in five seconds; and no memory.
    @Test(arguments: ["flood", "noise"])
    func anEndlessStreamIsBounded(_ behaviour: String) async throws {
        let (server, daemon) = try await started()
        let before = try daemon.peakMemory
        let start = ContinuousClock.now
        try await server.behave(behaviour)
        try await daemon.awaitLine("the stream brings more than 16777216 bytes in a minute")
        try await daemon.pause(for: .seconds(1))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        #expect(try Double(server.evaluations.count) <= 12 + seconds / 5)
        #expect(try daemon.peakMemory - before < 8 << 20)
        #expect(try daemon.member("state") == #""running""#)
        #expect(try daemon.stop() == 0)
    }

    /// The server closes its stream, and comes back with other flags.
    @Test func afterTheServerWasAwayTheNextChangeIsSeen() async throws {
        let (server, daemon) = try await started()
        for state in ["maintenance", "running"] {
            try await server.behave("closed")
            try server.hold(state)
            try await daemon.pause(for: .milliseconds(300))
            try await server.behave("normal", until: state, of: daemon)
        }
        try await daemon.awaitStates(["running", "maintenance", "running"])
    }
}

/// A slip in one flag of a server of OpenFeature.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnreadableFlagTests {
    private static let running = StatusFlags.running.text
    private static let maintenance = StatusFlags.maintenance.text
    /// The service `shop` has the value `limit` of the flag of that name.
    private static let limited = """
        [service.shop.values]
        limit = { type = "integer", default = 7 }
        """

    private static func entry(_ key: String, _ value: String) -> String {
        #"{"key": "\#(key)", "reason": "STATIC", "value": \#(value)}"#
    }

    private static func failed(_ code: String) -> [String] {
        ["web", "limit"].map { #"{"key": "\#($0)", "errorCode": \#(code), "value": true}"# }
    }

    private static let web = entry("web", running)
    private static let limit = entry("limit", "4")

    /// The entries of the flags `web` and `limit`, and why they cannot be read.
    private static let slips: [(entries: [String], cause: String)] = [
        ([web, web, limit, limit], "is given more than once"),
        ([web, entry("web", maintenance), limit, failed("null")[1]], "is given more than once"),
        (failed(#""GENERAL""#), "could not be evaluated: 'GENERAL'"),
        (failed(#""PROVIDER_NOT_READY""#), "could not be evaluated: 'PROVIDER_NOT_READY'"),
        (failed("[]"), "could not be evaluated: its error code is not a string"),
        (["7"], "is missing, and an entry of the answer has no key"),
        ([#"{"value": true}"#], "is missing, and an entry of the answer has no key"),
    ]

    /// The whole answer was once refused for a flag that was listed twice, so that no order came through. A
    /// flag whose evaluation failed counted as missing, so that a default took its place.
    @Test(arguments: slips)
    func itBlocksNoOtherOrderAndNoDefaultTakesItsPlace(
        _ slip: (entries: [String], cause: String)
    ) async throws {
        let server = try await FlagServer.ofrep()
        let serve = { (entries: [String]) in
            try server.folder.write("[\(entries.joined(separator: ","))]", to: "entries")
        }
        try serve([
            Self.entry("shop", Self.running), Self.entry("web", Self.running),
            Self.entry("limit", "3"),
        ])
        try await server.behave("entries")
        let daemon = try Daemon(
            evaluatedBy: server,
            after: """
                [service.web]
                source = "app"
                format = "status"
                key = "web"
                min_closed = "0s"
                \(Self.limited)
                [source.app.defaults]
                web = '\(Self.maintenance)'
                limit = 8
                """)
        try daemon.start()
        try await daemon.awaitState("running", of: "web")
        try serve([Self.entry("shop", Self.maintenance)] + slip.entries)
        try await daemon.awaitState("maintenance")
        try await daemon.awaitLine("key 'web' \(slip.cause)")
        try await daemon.awaitLine("key 'limit' \(slip.cause)")
        #expect(try daemon.member("reason", of: "web") == #""invalid-answer""#)
        #expect(try daemon.member("state", of: "web") == #""running""#)
        #expect(try daemon.member("values") == #"{"limit":3}"#)
        // A restart reads the same.
        try daemon.stop()
        try await server.behave("500")
        try await daemon.start(awaitingLine: "500 (internal error)")
        try await daemon.awaitState("maintenance")
        #expect(try daemon.member("state", of: "web") == #""running""#)
        #expect(try daemon.member("values") == #"{"limit":3}"#)
        // A missing flag has its default.
        try serve([
            Self.entry("shop", Self.running), #"{"key": "web", "errorCode": "FLAG_NOT_FOUND"}"#,
        ])
        try await server.behave("entries", until: "running", of: daemon)
        try await daemon.awaitState("maintenance", of: "web")
        #expect(try daemon.member("values") == #"{"limit":8}"#)
    }

    /// Recovered evaluations under the ETag of the failed ones.
    @Test func anEvaluationThatWorksAgainIsSeenUnderTheSameETag() async throws {
        let server = try await FlagServer.ofrep()
        let daemon = try Daemon(evaluatedBy: server, after: Self.limited)
        let shop = Self.entry("shop", Self.running)
        try server.folder.write("[\(shop), \(Self.failed(#""GENERAL""#)[1])]", to: "entries")
        try server.folder.write("constant", to: "etag")
        try await server.behave("entries")
        try await daemon.start(awaitingLine: "key 'limit' could not be evaluated")
        try server.folder.write("[\(shop), \(Self.limit)]", to: "entries")
        try await waitUntil("the value is read") {
            try daemon.member("values") == #"{"limit":4}"#
        }
    }
}
