import JSON
import Support
import Testing

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
            #expect(
                loaded["values"] == .object(["service_end": .string(word), "größe": "ü"]))
        }
    }

    @Test func theServerRefusesTheOfficialClientWhereItDoesNotKnowTheKey() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey("first", for: server)
        try ServiceAccountKey("other", for: server).enroll(at: server)
        try server.publish(server: ["service_end": "no"], version: 1)
        let ended = try load(from: server, with: key, as: "one")
        #expect(ended.status == 1)
        #expect(ended.errors.contains("invalid_grant"))
    }
}
