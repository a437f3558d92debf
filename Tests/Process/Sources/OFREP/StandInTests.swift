import Files
import Support
import Testing

/// The server of these tests follows OpenFeature's protocol: OpenFeature's own Python client understands
/// each answer.
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
