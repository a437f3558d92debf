import JSON
import Support
import Testing

/// The stream of invalidations: it brings hints to poll, never flags.
@Suite(.timeLimit(.minutes(5))) struct RealtimeTests {
    private static let stream = ":streamFetchInvalidations"

    /// A daemon that would poll once an hour.
    private func scene(
        interval: String = "1h"
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        try server.publish(client: ["service_end": "no"], version: 7)
        let daemon = try Daemon(
            clientTemplateOf: server, interval: interval, source: "realtime = true")
        return (server, daemon)
    }

    @Test func aPublicationTakesEffectBeforeTheNextPoll() async throws {
        let (server, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        try await waitUntil("the stream is followed") {
            try server.requests(to: Self.stream).count == 1
        }
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
        let request = try #require(try server.requests(to: Self.stream).first)
        #expect(request.headers["x-goog-firebase-installations-auth"] != nil)
        let body = try #require(try JSON.Value.parse(request.body).object)
        #expect(body["namespace"] == "firebase" && body["project"] == "demo")
        #expect(body["appId"] == "1:1234567:web:abcdef0123456789")
        #expect(body["lastKnownVersionNumber"] != nil)
    }

    /// The service announces a version, and for a while still serves the version before.
    @Test func anAnnouncedVersionIsFetchedUntilItIsThere() async throws {
        let (server, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        try await waitUntil("the stream is followed") {
            try server.requests(to: Self.stream).count == 1
        }
        let before = try server.requests(to: ":fetch").count
        try await server.behave("lagging")
        try server.publish(client: ["service_end": "over"], version: 8)
        try await waitUntil("it asked in vain") {
            try server.requests(to: ":fetch").count > before + 1
        }
        try await server.behave("ok")
        try await daemon.awaitState("ended")
    }

    @Test func aForbiddenStreamIsReportedAndPollingContinues() async throws {
        let (server, daemon) = try await scene(interval: "100ms")
        try await server.behave("realtime-403")
        try daemon.start()
        try await daemon.awaitLine(
            "Firebase Remote Config Realtime API has not been used in project")
        #expect(try daemon.log.contains("overview?project=1234567 then retry."))
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
    }

    @Test func aDisabledStreamIsReportedAndPollingContinues() async throws {
        let (server, daemon) = try await scene(interval: "100ms")
        try await server.behave("realtime-off")
        try daemon.start()
        try await daemon.awaitLine("the service has switched its stream off")
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
    }

    @Test func withoutATokenThereIsNoStreamAndPollingContinues() async throws {
        let (server, daemon) = try await scene(interval: "100ms")
        try await server.behave("installations-503")
        try daemon.start()
        try await daemon.awaitLine("changes are seen at the next poll only")
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
        #expect(try server.requests(to: Self.stream).isEmpty)
    }
}
