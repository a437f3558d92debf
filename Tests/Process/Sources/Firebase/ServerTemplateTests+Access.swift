import Files
import JSON
import Support
import Testing

/// Where the access token comes from, and where it never appears.
extension ServerTemplateTests {
    @Test func theAccountsFileIsCheckedAndNeverShown() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey("first", for: server)
        try key.enroll(at: server)
        try server.publish(server: ["service_end": "no"], version: 1)
        let wrong: [(json: String, line: String)] = [
            ("{", "read the key of the service account 'account': "),
            ("[]", "it is not a JSON object"),
            (try key.json(["type": "authorized_user"]), "its 'type' is not 'service_account'"),
            (try key.json(["client_email": .null]), "its 'client_email' is missing"),
            (try key.json(["private_key": "-----BEGIN"]), "it is not a private key in PEM"),
            (
                try key.json(["token_uri": "http://127.example.com/token"]),
                "its 'token_uri' is not https"
            ),
            (try key.json(["token_uri": "http://10.0.0.1/"]), "its 'token_uri' is not https"),
            (try key.json(["token_uri": "ftp://127.0.0.1/"]), "its 'token_uri' is not https"),
            (
                try key.json(["client_email": "stranger@demo.iam"]),
                "400: invalid_grant: Invalid grant: account not found"
            ),
            (
                try key.json(["token_uri": .string("\(server.url)/nowhere")]),
                "404 (not found): NOT_FOUND: No such method."
            ),
        ]
        let daemon = try Daemon(serverTemplateOf: server, account: "")
        for (json, line) in wrong {
            try daemon.folder.write(json, to: "account")
            try daemon.start()
            try await daemon.awaitLine(line)
            #expect(try !daemon.log.contains("PRIVATE"))
            try daemon.stop()
        }
        #expect(try server.requests(to: Self.template).isEmpty)
        try daemon.folder.write(try key.json(), to: "account")
        try daemon.start()
        try await daemon.awaitState("running")
    }

    @Test func aTokenIsRenewedBeforeItEndsAndOnceMoreWhenItIsRefused() async throws {
        let (server, _, daemon) = try await scene()
        try await server.behave("short-tokens")
        try daemon.start()
        try await daemon.awaitState("running")
        try await waitUntil("three tokens were used") {
            try server.requests(to: "/token").count > 2
        }
        try await server.behave("ok")
        try await waitUntil("a long token is used") {
            let used = try server.requests(to: Self.template).map { $0.headers["authorization"] }
            return used.count > 20 && Set(used.suffix(20)).count == 1
        }
        let count = try server.requests(to: "/token").count
        try server.folder.write("forget-tokens", to: "case")
        try await waitUntil("the token was renewed") {
            try server.requests(to: "/token").count == count + 1
        }
        try server.publish(server: ["service_end": "over"], version: 2)
        try await daemon.awaitState("ended")
        #expect(try daemon.warnings == [])
    }

    @Test func aKeyThatIsReplacedIsUsedFromThenOn() async throws {
        let (server, _, daemon) = try await scene()
        try daemon.start()
        try await daemon.awaitState("running")
        let second = try ServiceAccountKey("second", for: server)
        try second.enroll(at: server)
        try await daemon.awaitLine("invalid_grant")
        #expect(try daemon.log.contains("is the clock right, and is the key still valid?"))
        #expect(try daemon.member("state") == #""running""#)
        try daemon.folder.write(try second.json(), to: "account")
        try server.publish(server: ["service_end": "over"], version: 2)
        try await daemon.awaitState("ended")
    }

    /// Plain http to this machine goes through no proxy.
    @Test func noProxySeesATokenThatIsForThisMachine() async throws {
        let server = try await FirebaseServer()
        try server.publish(server: ["service_end": "over"], version: 1)
        let daemon = try Daemon(serverTemplateOf: server, account: nil)
        daemon.environment["http_proxy"] = "http://127.0.0.1:1"
        try daemon.start()
        try await daemon.awaitState("ended")
        #expect(try daemon.warnings == [])
    }

    @Test func theMetadataServerGivesTokensWhereThereAreNoCredentials() async throws {
        let server = try await FirebaseServer()
        try server.publish(server: ["service_end": "over"], version: 1)
        let daemon = try Daemon(serverTemplateOf: server, account: nil)
        try daemon.start()
        try await daemon.awaitState("ended")
        let asked = try server.requests(to: "/default/token")
        #expect(asked.count == 1 && asked.first?.headers["metadata-flavor"] == "Google")
    }

    @Test func anAnswerNotFromAMetadataServerGivesNoToken() async throws {
        let server = try await FirebaseServer()
        try await server.behave("no-flavor")
        let daemon = try Daemon(serverTemplateOf: server, account: nil)
        try daemon.start()
        try await daemon.awaitLine("the answer is not from a metadata server")
        #expect(try server.requests(to: Self.template).isEmpty)
    }
}
