import Files
import Glibc
import JSON
import Support
import Testing

/// Flags in a client template, which the service evaluates.
@Suite(.timeLimit(.minutes(5))) struct ClientTemplateTests {
    private static let fetch = "/namespaces/firebase:fetch"

    private func scene(
        _ word: String = "no", source: String = ""
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        try server.publish(client: ["service_end": .string(word)], version: 7)
        return (server, try Daemon(clientTemplateOf: server, source: source))
    }

    @Test func aShortIntervalIsInTheStatusAndNoAlarm() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try daemon.control("status").expect(
            0, output: "source 'app': its interval is below 60 s: Firebase has a quota of fetches",
            "write 'realtime = true'")
        try daemon.control("status", "--check").expect(0)
        try daemon.edit("interval = \"100ms\"", "interval = \"60s\"")
        try daemon.control("reload").expect(0)
        #expect(try !daemon.control("status").output.contains("quota"))
        #expect(try !server.requests(to: Self.fetch).isEmpty)
    }

    @Test func theInstallationIsRegisteredOnceAndKeptOverRestarts() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try await server.awaitRequests(to: Self.fetch) { $0 > 2 }
        try daemon.stop()
        try daemon.start()
        try await server.end(daemon)
        #expect(try daemon.member("version") == #""8""#)
        #expect(try server.requests(to: "/installations").count == 1)

        let requests = try server.requests(to: Self.fetch)
        let ids = try requests.map { request in
            try JSON.Value.parse(request.body).object?["appInstanceId"]?.string ?? ""
        }
        #expect(Set(ids).count == 1)
        let id = try #require(ids.first)
        #expect(id.utf8.count == 22 && ["c", "d", "e", "f"].contains(id.prefix(1)))
        #expect(requests[0].headers["if-none-match"] == nil)
        #expect(requests[2].headers["if-none-match"]?.hasPrefix("etag-demo-") == true)
        #expect(requests.allSatisfy { $0.headers["x-goog-firebase-installations-auth"] != nil })
        // A key in the URL would be in the log of every proxy.
        #expect(requests.allSatisfy { $0.headers["x-goog-api-key"] == "AIza-demo" })
        let file = daemon.folder("state/installations/app.json")
        #expect(try File.attributes(of: file).mode & 0o777 == 0o600)
        #expect(try !daemon.log.contains("AIza") && !daemon.log.contains("eyFIS"))
    }

    @Test func anInstallationThatCannotBeRegisteredAsksWithoutAToken() async throws {
        let (server, daemon) = try await scene("over")
        try await server.behave("installations-503")
        try await daemon.start(awaiting: "ended")
        try await daemon.awaitLine("503 (unavailable): UNAVAILABLE")
        #expect(try daemon.log.contains("; asking without a token"))
        let request = try #require(try server.requests(to: Self.fetch).first)
        #expect(request.headers["x-goog-firebase-installations-auth"] == nil)
    }

    @Test func withoutInstallationsNoTokenIsAskedFor() async throws {
        let (server, daemon) = try await scene("over")
        let url = #"installations_url = ""#
        try daemon.edit("\(url)\(server.url)\"", "\(url)none\"")
        try await daemon.start(awaiting: "ended")
        #expect(try server.requests(to: "/installations").isEmpty)
        let body = try #require(try server.requests(to: Self.fetch).first?.body)
        #expect(body.contains(#""appInstanceId":"#) && !body.contains("appInstanceIdToken"))
    }

    @Test func aTokenThatIsRefusedIsRenewed() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try server.folder.write("forget-tokens", to: "case")
        try await server.awaitRequests(to: "authTokens:generate", exactly: 1)
        try await server.end(daemon)
        #expect(try server.requests(to: "/installations").count == 1)
    }

    @Test func anInstallationThatTheServiceForgotIsRegisteredAnewByItsId() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        try daemon.stop()
        let file = "state/installations/app.json"
        let lines = try daemon.folder.text(of: file).split(separator: "\n").map {
            $0.contains(#""expires""#) ? #""expires": 1"# : $0
        }
        try daemon.folder.write(lines.joined(separator: "\n"), to: file)
        try await server.behave("forget-installations")
        try daemon.start()
        try await server.awaitRequests(to: "/installations", exactly: 2)
        let ids = try server.requests(to: "/installations").map {
            try JSON.Value.parse($0.body).object?["fid"]?.string
        }
        #expect(ids[0] != nil && ids[0] == ids[1])
    }

    @Test func aFileOfAnotherAppOrABrokenOneMakesANewInstallation() async throws {
        let (server, daemon) = try await scene()
        for text in ["{", #"{"schema": 1, "app": "other", "id": "cAAAAAAAAAAAAAAAAAAAAA"}"#] {
            try Directory.create(daemon.folder("state/installations"))
            try daemon.folder.write(text, to: "state/installations/app.json")
            let count = try server.requests(to: "/installations").count
            try daemon.start()
            try await server.awaitRequests(to: "/installations", exactly: count + 1)
            try await daemon.awaitState("running")
            try daemon.stop()
        }
        #expect(try !server.requests(to: Self.fetch).contains { $0.body.contains("cAAAA") })
    }

    /// Flags count although the installation cannot be stored.
    @Test func anInstallationThatCannotBeStoredIsReported() async throws {
        let (server, daemon) = try await scene("over")
        try Directory.create(daemon.folder("state"))
        try daemon.folder.write("in the way", to: "state/installations")
        try await daemon.start(awaitingLine: "source 'app': the installation is not kept: ")
        try await daemon.awaitState("ended")
        _ = server
    }

    @Test(arguments: ["ok", "no-change"])
    func bothFormsOfAnUnchangedAnswerConfirmTheFlags(how: String) async throws {
        let (server, daemon) = try await scene("over")
        try await server.behave(how)
        try await daemon.start(awaiting: "ended")
        let mark = daemon.folder("run/source.app")
        try await waitUntil("the flags are marked") { try File.exists(mark) }
        let before = try File.modificationTime(of: mark)
        try await waitUntil("the flags are confirmed") {
            try File.modificationTime(of: mark) > before
        }
        try await server.awaitRequests(to: Self.fetch) { $0 > 4 }
        // The interval of this test is too short for the real service, and the daemon says so.
        #expect(try daemon.warnings.allSatisfy { $0.contains("is below 60 s: Firebase") })
    }

    @Test func anAnswerWithoutAStateIsReadByItsEntries() async throws {
        let (server, daemon) = try await scene("over")
        try await server.behave("no-state")
        try await daemon.start(awaiting: "ended")
    }

    static let problems: [TemplateProblem] = [
        .init("NO_TEMPLATE", "the project has no client template (NO_TEMPLATE)"),
        .init("EMPTY_CONFIG", "the template holds nothing for this app (EMPTY_CONFIG)"),
        .init(
            "INSTANCE_STATE_UNSPECIFIED",
            "the service does not know (INSTANCE_STATE_UNSPECIFIED)"),
        .init("MYSTERY", "the answer's state 'MYSTERY' is not known"),
        .init("401", "401 (unauthorized): UNAUTHENTICATED: Request had invalid"),
        .init("403", "403 (forbidden): PERMISSION_DENIED: Permission"),
        .init("404", "404 (not found): NOT_FOUND: Requested entity"),
        .init("429", "429 (too many requests): RESOURCE_EXHAUSTED: Quota exceeded."),
        .init("503", "503 (unavailable): UNAVAILABLE"),
        .init("error-200", "the server answers 200 with an error: UNAVAILABLE"),
        .init("closed", "cannot connect: connection refused"),
    ]

    /// The official clients take such answers for empty flags. Here they are no order, defaults or not.
    @Test(arguments: problems, TemplateProblem.Word.allCases)
    func aFailingServiceChangesNoVerdict(problem: TemplateProblem, known: TemplateProblem.Word)
        async throws
    {
        let (server, daemon) = try await scene(
            known.rawValue, source: "defaults = { service_end = \"\(known.other)\" }")
        try await problem.expectNoOrder(to: daemon, that: known, from: server) {
            try server.publish(client: ["service_end": .string($0.rawValue)], version: 8)
        }
    }

    @Test func aKeyThatVanishedIsNoOrderWhereItHasNoDefault() async throws {
        let (server, daemon) = try await scene("over")
        try await daemon.start(awaiting: "ended")
        try server.publish(client: ["unrelated": "1"], version: 8)
        try await daemon.awaitReason("invalid-answer", state: "ended")
        try await daemon.awaitLine("key 'service_end' is missing")
        #expect(try daemon.lines(with: "key 'service_end' is missing").count == 1)
    }
}

/// Answers that would stop the daemon's work, or end it.
@Suite(.timeLimit(.minutes(5))) struct DeadlyAnswerTests {
    private func scene(
        signals: String = ""
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey.enrolled(at: server)
        return (
            server,
            try Daemon(serverTemplateOf: server, account: try key.json(), source: signals)
        )
    }

    /// 8 MiB of expressions took over 20 minutes, again after each kill by the watchdog.
    @Test func expressionsWithoutEndDelayNoOrder() async throws {
        let (server, daemon) = try await scene(signals: #"signals = { s = "aaaaaaaaaaaaaaaa" }"#)
        let patterns = (0..<100_000).map { JSON.Value.string("(a{100}){10}b\($0)") }
        try server.publish(
            server: ["service_end": "over"], version: 2,
            conditions: [
                ["name": "endless", "condition": .signal("s", "STRING_CONTAINS_REGEX", patterns)]
            ], conditional: ["service_end": ["endless": ["value": "no"]]])
        try await daemon.start(awaiting: "ended")
        try await daemon.awaitLine(
            "source 'app': condition 'endless' counts as false: the template takes more than")
        try await daemon.awaitStatus("'endless' counts as false")
    }
}
