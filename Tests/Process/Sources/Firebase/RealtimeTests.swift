import JSON
import Support
import Testing

/// The stream of invalidations: it brings hints to poll, never flags.
@Suite(.timeLimit(.minutes(5))) struct RealtimeTests {
    private static let stream = ":streamFetchInvalidations"

    /// A server that does `behaviour`, and a daemon that follows its stream.
    private func scene(
        _ behaviour: String = "ok", interval: String = "100ms"
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        try server.publish(client: ["service_end": "no"], version: 7)
        try await server.behave(behaviour)
        let daemon = try Daemon(
            clientTemplateOf: server, interval: interval, source: "realtime = true")
        return (server, daemon)
    }

    /// A daemon that would poll once an hour, and follows the stream.
    private func following() async throws -> (server: FirebaseServer, daemon: Daemon) {
        let (server, daemon) = try await scene(interval: "1h")
        try await daemon.start(awaiting: "running")
        try await server.awaitRequests(to: Self.stream) { $0 == 1 }
        return (server, daemon)
    }

    @Test func aPublicationTakesEffectBeforeTheNextPoll() async throws {
        let (server, daemon) = try await following()
        try await server.end(daemon)
        let request = try #require(try server.requests(to: Self.stream).first)
        #expect(request.headers["x-goog-firebase-installations-auth"] != nil)
        let body = try #require(try JSON.Value.parse(request.body).object)
        #expect(body["namespace"] == "firebase" && body["project"] == "demo")
        #expect(body["appId"] == "1:1234567:web:abcdef0123456789")
        #expect(body["lastKnownVersionNumber"] != nil)
    }

    /// The service announces a version, and for a while still serves the version before.
    @Test func anAnnouncedVersionIsFetchedUntilItIsThere() async throws {
        let (server, daemon) = try await following()
        let before = try server.requests(to: ":fetch").count
        try await server.behave("lagging")
        try server.publish(client: ["service_end": "over"], version: 8)
        try await server.awaitRequests(to: ":fetch") { $0 > before + 1 }
        try await server.behave("ok", until: "ended", of: daemon)
    }

    @Test(arguments: [
        // A forbidden stream, a disabled one, and none without a token.
        (
            "realtime-403", "Firebase Remote Config Realtime API has not been used in project",
            "overview?project=1234567 then retry."
        ),
        ("realtime-off", "the service has switched its stream off", ""),
        ("installations-503", "changes are seen at the next poll only", ""),
    ])
    func aStreamThatIsNotToBeHadIsReportedAndPollingContinues(
        _ behaviour: String, _ line: String, _ advice: String
    ) async throws {
        let (server, daemon) = try await scene(behaviour)
        try await daemon.start(awaitingLine: line)
        if !advice.isEmpty { #expect(try daemon.log.contains(advice)) }
        try await server.end(daemon)
        let isAsked = behaviour != "installations-503"
        #expect(try server.requests(to: Self.stream).isEmpty != isAsked)
    }
}
