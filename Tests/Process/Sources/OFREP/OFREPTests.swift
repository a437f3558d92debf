import Files
import JSON
import Support
import Testing

/// Flags that a server of OpenFeature evaluates, by polling.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OFREPTests {
    @Test func theContextHoldsTheHostAndTheConfiguredMembers() async throws {
        let server = try await FlagServer.ofrep()
        let daemon = try Daemon(
            evaluatedBy: server,
            source: #"context = { region = "eu", tier = 2, os = "mine" }"#)
        try await daemon.start(awaiting: "running")
        let request = try #require(try server.evaluations.first)
        let body = try JSON.Value.parse(Array(request.body.utf8))
        let context = try #require(body.object?["context"]?.object)
        #expect(request.method == "POST")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["cache-control"] == "no-cache")
        let name = try String(
            decoding: File.read("/proc/sys/kernel/hostname", limit: 1000), as: UTF8.self)
        #expect(context["hostName"]?.string == name.split(separator: "\n").first.map(String.init))
        #expect(context["osVersion"]?.string != nil)
        #expect(context["region"]?.string == "eu")
        #expect(context["tier"]?.number?.int64 == 2)
        #expect(context["os"]?.string == "mine")
        let machine = try #require(context["targetingKey"]?.string)
        let known = String(
            decoding: try File.read("/etc/machine-id", limit: 100).prefix(32), as: UTF8.self)
        #expect(machine.count == 32 && machine != known)
        try server.folder.write(
            #"{"shop": {"value": {"apiInactive": true, "forceUpdate": false}, "for": "\#(context["hostName"]?.string ?? "")"}}"#,
            to: "flags.json")
        try await daemon.awaitState("maintenance")
    }

    @Test func requestsAreConditionalExceptTheFirstAfterAStart() async throws {
        let server = try await FlagServer.ofrep()
        try await server.behave("no-streams")
        let daemon = try Daemon(evaluatedBy: server).start()
        try await waitUntil("it asks with a condition") {
            try server.evaluations.last?.headers["if-none-match"] != nil
        }
        try await server.hold("maintenance", for: daemon)
        let version = try daemon.member("version")
        #expect(version != "null")
        try daemon.stop()
        let count = try server.evaluations.count
        try daemon.start()
        try await waitUntil("it asks again") { try server.evaluations.count > count }
        #expect(try server.evaluations[count].headers["if-none-match"] == nil)
        try await server.behave("no-etag")
        try await server.hold("running", for: daemon)
    }

    @Test func bothKindsOfCredentialsAreSent() async throws {
        let server = try await FlagServer.ofrep()
        try server.folder.write("one", to: "bearer")
        try server.folder.write("two", to: "key")
        let daemon = try Daemon(
            evaluatedBy: server,
            source: """
                bearer = "bearer"
                api_key = "key"
                """)
        daemon.environment = ["CREDENTIALS_DIRECTORY": server.folder.path]
        try await daemon.start(awaiting: "running")
        try await server.awaitStream()
        #expect(try server.streams.first?.headers["authorization"] == "Bearer one")
        #expect(try server.streams.first?.headers["x-api-key"] == "two")
        // A server that refuses the credentials is still polled, at the slowest pace.
        try server.folder.write("three", to: "bearer.new")
        try await server.behave("401")
        try await daemon.awaitLine("the server answers 401 (unauthorized)")
        #expect(try daemon.member("state") == #""running""#)
        try server.hold("maintenance")
        try await server.behave("normal", until: "maintenance", of: daemon)
    }

    /// A flag that the server does not know is missing, and so is a flag without a value, which means the
    /// default of the asking code. Neither counts as false.
    @Test(arguments: [#"{"errorCode": "FLAG_NOT_FOUND", "value": true}"#, #"{"variant": "none"}"#])
    func aFlagWithoutAValueIsNoOrder(_ flag: String) async throws {
        let server = try await FlagServer.ofrep()
        try server.hold("maintenance")
        let daemon = try Daemon(
            evaluatedBy: server,
            after: """
                [service.shop.values]
                limit = { key = "limit", type = "integer", default = 7 }
                """)
        try await daemon.start(awaiting: "maintenance")
        try server.folder.write(#"{"shop": \#(flag), "limit": {"value": 3}}"#, to: "flags.json")
        try await daemon.awaitReason("invalid-answer", state: "maintenance")
        try await daemon.awaitLine("key 'shop' is missing")
        try server.hold("running", more: #", "limit": {"value": 4}"#)
        try await daemon.awaitState("running")
        #expect(try daemon.member("values") == #"{"limit":4}"#)
    }

    @Test(arguments: [
        ("400", "the server answers 400: GENERAL", 0.0...2.4),
        ("403", "the server answers 403 (forbidden)", 0.0...2.4),
        ("500", "the server answers 500 (internal error)", 0.0...2.4),
        ("503", "the server answers 503 (unavailable)", 0.0...2.4),
        ("seconds", "the server answers 429 (too many requests)", 1.9...4.4),
        ("date", "the server answers 429 (too many requests)", 1.9...4.4),
        ("rfc3339", "the server answers 429 (too many requests)", 1.9...4.4),
    ])
    func aFailureIsNoOrderAndWaitsAreObeyed(
        _ behaviour: String, _ line: String, _ pause: ClosedRange<Double>
    ) async throws {
        let server = try await FlagServer.ofrep()
        let daemon = try await Daemon(evaluatedBy: server).start(awaiting: "running")
        try await server.behave(behaviour)
        // A hint of the stream causes no fetch before Retry-After is over.
        try server.hold("maintenance")
        let met = { try server.evaluations.filter { $0.behaviour == behaviour }.map(\.time) }
        var pauses: [Double] = []
        // A busy machine is late now and then.
        try await daemon.awaitUntil("it asks again in time") {
            pauses = try met().pauses
            return pauses.contains { $0 <= pause.upperBound }
        }
        #expect(pauses[0] >= pause.lowerBound)
        #expect(
            try daemon.lines(with: "evaluate at 'http://127.0.0.1:\(server.port)': \(line)").count
                == 1)
        #expect(try daemon.member("state") == #""running""#)
        try await server.behave("normal", until: "maintenance", of: daemon)
    }
}

/// The server of these tests follows OpenFeature's protocol: OpenFeature's own Python client understands each answer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StandInTests {
    @Test func openFeaturesOwnClientUnderstandsTheServer() async throws {
        let server = try await FlagServer.ofrep()
        try server.folder.write(
            """
            {"open": {"value": true, "variant": "on"}, "end": {"value": "2027-03-01"},
             "count": {"value": 3}, "share": {"value": 0.25},
             "shop": {"value": {"state": "running"}},
             "left-to-code": {}, "targeted": {"value": true, "for": "web-1"},
             "broken": {"errorCode": "PARSE_ERROR", "errorDetails": "broken"}}
            """, to: "flags.json")
        try server.folder.write("token", to: "bearer")
        let client = try ask(server, as: "token")
        #expect(
            client == """
                boolean True STATIC - on
                string '2027-03-01' STATIC - default
                integer 3 STATIC - default
                float 0.25 STATIC - default
                object {'state': 'running'} STATIC - default
                code default True STATIC - default
                for this host True TARGETING_MATCH - default
                for another False DISABLED - default
                missing False ERROR FLAG_NOT_FOUND None
                failed False ERROR PARSE_ERROR None
                no key False ERROR TARGETING_KEY_MISSING None

                """)
        let refused = try ask(server, as: "other")
        #expect(refused.hasPrefix("boolean False ERROR GENERAL None\n"))
    }

    /// The output of the client when it sends this token.
    private func ask(_ server: FlagServer, as bearer: String) throws -> String {
        let client = try Program.run(
            try PythonEnvironment.ready().python,
            [FlagServer.script("ofrep-client.py"), "http://127.0.0.1:\(server.port)", bearer])
        guard client.status == 0 else { throw TestFailure("ask the server: \(client.errors)") }
        return client.output
    }
}
