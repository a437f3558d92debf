import Files
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

    @Test func theInstallationIsRegisteredOnceAndKeptOverRestarts() async throws {
        let (server, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        try await waitUntil("it asked thrice") { try server.requests(to: Self.fetch).count > 2 }
        try daemon.stop()
        try daemon.start()
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
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
        try daemon.start()
        try await daemon.awaitState("ended")
        try await daemon.awaitLine("503 (unavailable): UNAVAILABLE")
        #expect(try daemon.log.contains("; asking without a token"))
        let request = try #require(try server.requests(to: Self.fetch).first)
        #expect(request.headers["x-goog-firebase-installations-auth"] == nil)
    }

    @Test func withoutInstallationsNoTokenIsAskedFor() async throws {
        let (server, daemon) = try await scene("over")
        let text = try daemon.folder.text(of: "killswitchd.toml").split(separator: "\n").map {
            $0.hasPrefix("installations_url") ? #"installations_url = "none""# : $0
        }
        try daemon.folder.write(text.joined(separator: "\n"), to: "killswitchd.toml")
        try daemon.start()
        try await daemon.awaitState("ended")
        #expect(try server.requests(to: "/installations").isEmpty)
        let body = try #require(try server.requests(to: Self.fetch).first?.body)
        #expect(body.contains(#""appInstanceId":"#) && !body.contains("appInstanceIdToken"))
    }

    @Test func aTokenThatIsRefusedIsRenewed() async throws {
        let (server, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        try server.folder.write("forget-tokens", to: "case")
        try await waitUntil("the token was renewed") {
            try server.requests(to: "authTokens:generate").count == 1
        }
        try server.publish(client: ["service_end": "over"], version: 8)
        try await daemon.awaitState("ended")
        #expect(try server.requests(to: "/installations").count == 1)
    }

    @Test func anInstallationThatTheServiceForgotIsRegisteredAnewByItsId() async throws {
        let (server, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        try daemon.stop()
        let file = "state/installations/app.json"
        let lines = try daemon.folder.text(of: file).split(separator: "\n").map {
            $0.contains(#""expires""#) ? #""expires": 1"# : $0
        }
        try daemon.folder.write(lines.joined(separator: "\n"), to: file)
        try await server.behave("forget-installations")
        try daemon.start()
        try await waitUntil("it is registered again") {
            try server.requests(to: "/installations").count == 2
        }
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
            try await waitUntil("it is registered") {
                try server.requests(to: "/installations").count == count + 1
            }
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
        try daemon.start()
        try await daemon.awaitLine("source 'app': the installation is not kept: ")
        try await daemon.awaitState("ended")
        _ = server
    }

    @Test(arguments: ["ok", "no-change"])
    func bothFormsOfAnUnchangedAnswerConfirmTheFlags(how: String) async throws {
        let (server, daemon) = try await scene("over")
        try await server.behave(how)
        try daemon.start()
        try await daemon.awaitState("ended")
        let mark = daemon.folder("run/source.app")
        try await waitUntil("the flags are marked") { try File.exists(mark) }
        let before = try File.modificationTime(of: mark)
        try await waitUntil("the flags are confirmed") {
            try File.modificationTime(of: mark) > before
        }
        try await waitUntil("it asked more") { try server.requests(to: Self.fetch).count > 4 }
        #expect(try daemon.warnings == [])
    }

    @Test func anAnswerWithoutAStateIsReadByItsEntries() async throws {
        let (server, daemon) = try await scene("over")
        try await server.behave("no-state")
        try daemon.start()
        try await daemon.awaitState("ended")
    }

    static let problems = [
        TemplateProblem(
            name: "NO_TEMPLATE", line: "the project has no client template (NO_TEMPLATE)"),
        TemplateProblem(
            name: "EMPTY_CONFIG", line: "the template holds nothing for this app (EMPTY_CONFIG)"),
        TemplateProblem(
            name: "INSTANCE_STATE_UNSPECIFIED",
            line: "the service does not know (INSTANCE_STATE_UNSPECIFIED)"),
        TemplateProblem(name: "MYSTERY", line: "the answer's state 'MYSTERY' is not known"),
        TemplateProblem(
            name: "401", line: "401 (unauthorized): UNAUTHENTICATED: Request had invalid"),
        TemplateProblem(name: "403", line: "403 (forbidden): PERMISSION_DENIED: Permission"),
        TemplateProblem(name: "404", line: "404 (not found): NOT_FOUND: Requested entity"),
        TemplateProblem(
            name: "429", line: "429 (too many requests): RESOURCE_EXHAUSTED: Quota exceeded."),
        TemplateProblem(name: "503", line: "503 (unavailable): UNAVAILABLE"),
        TemplateProblem(
            name: "error-200", line: "the server answers 200 with an error: UNAVAILABLE"),
        TemplateProblem(name: "closed", line: "cannot connect: connection refused"),
    ]

    /// The official clients take such answers for empty flags. Here they are no order, defaults or not.
    @Test(arguments: problems, TemplateProblem.Word.allCases)
    func aFailingServiceChangesNoVerdict(problem: TemplateProblem, known: TemplateProblem.Word)
        async throws
    {
        let (server, daemon) = try await scene(
            known.rawValue, source: "defaults = { service_end = \"\(known.other)\" }")
        try await problem.expectNoOrder(to: daemon, that: known, from: server) { word in
            try server.publish(client: ["service_end": .string(word.rawValue)], version: 8)
        }
    }

    @Test func aKeyThatVanishedIsNoOrderWhereItHasNoDefault() async throws {
        let (server, daemon) = try await scene("over")
        try daemon.start()
        try await daemon.awaitState("ended")
        try server.publish(client: ["unrelated": "1"], version: 8)
        try await daemon.awaitReason("invalid-answer")
        #expect(try daemon.member("state") == #""ended""#)
        try await daemon.awaitLine("key 'service_end' is missing")
        #expect(try daemon.lines(with: "key 'service_end' is missing").count == 1)
    }
}
