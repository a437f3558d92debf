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
        try await server.awaitRequests(to: Self.stream, exactly: 1)
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

/// The official client accepts the server of these tests, so that the server is a fair stand-in.
@Suite(.timeLimit(.minutes(5))) struct RealClientTests {
    /// What the official client prints about the template, for the host of this randomization ID.
    private func load(
        from server: FirebaseServer, with key: ServiceAccountKey, as host: String
    ) throws -> Program.Result {
        let folder = try TemporaryFolder()
        try folder.write(try key.json(), to: "account.json")
        return try Program.run(
            try PythonEnvironment.ready().python,
            [
                Programs.file("Firebase/real-client.py"), "\(server.port)",
                folder("account.json"), #"{"randomization_id": "\#(host)"}"#,
            ])
    }

    @Test func theOfficialClientLoadsTheTemplateFromTheServer() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey.enrolled(at: server)
        let half: JSON.Value = [
            "percentOperator": "LESS_OR_EQUAL", "seed": "3", "microPercent": 50_000_000,
        ]
        try server.publish(
            server: ["service_end": "no", "größe": "ü"], version: 19,
            conditions: [["name": "half", "condition": ["percent": half]]],
            conditional: ["service_end": ["half": ["value": "over"]]])

        for (host, word) in [("three", "over"), ("one", "no")] {
            let ended = try load(from: server, with: key, as: host)
            #expect(ended.errors == "")
            // With this seed the condition is true for one of the two hosts.
            let loaded = try #require(try JSON.Value.parse(ended.output).object)
            #expect(loaded["etag"]?.string?.hasPrefix("etag-demo-") == true)
            #expect(loaded["version"]?.object?["versionNumber"] == "19")
            #expect(loaded["values"] == .object(["service_end": .string(word), "größe": "ü"]))
        }
    }

    @Test func theServerRefusesTheOfficialClientWhereItDoesNotKnowTheKey() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey("first", for: server)
        try ServiceAccountKey("other", for: server).enroll(at: server)
        try server.publish(server: ["service_end": "no"], version: 1)
        try load(from: server, with: key, as: "one").expect(1, errors: "invalid_grant")
    }
}
