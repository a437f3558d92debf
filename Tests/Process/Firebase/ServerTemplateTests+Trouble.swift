import Files
import JSON
import Support
import Testing

extension ServerTemplateTests {
    struct Trouble: Sendable, CustomTestStringConvertible {
        let name: String
        let line: String
        var testDescription: String { name }
    }

    static let troubles = [
        Trouble(
            name: "401",
            line: "401 (unauthorized): UNAUTHENTICATED: Request had invalid authentication"),
        Trouble(
            name: "403",
            line: "403 (forbidden): PERMISSION_DENIED: Permission 'cloudconfig.configs.get' denied"),
        Trouble(name: "404", line: "no server template is published in this project"),
        Trouble(name: "429", line: "429 (too many requests): RESOURCE_EXHAUSTED: Quota exceeded."),
        Trouble(name: "503", line: "503 (unavailable): UNAVAILABLE"),
        Trouble(name: "page", line: "the answer is a web page, not JSON"),
        Trouble(name: "empty", line: "the answer is empty"),
        Trouble(name: "huge", line: "the answer is larger than 8388608 bytes"),
        Trouble(name: "late", line: "no whole answer within 2.0 seconds"),
        Trouble(name: "truncated", line: "the answer is not valid JSON"),
        Trouble(name: "error-200", line: "UNAVAILABLE: The service is currently unavailable."),
        Trouble(name: "old-version", line: "version 1 of the template is older than 7"),
        Trouble(name: "closed", line: "cannot connect: connection refused"),
    ]

    /// The flags that are known stay in force, whichever they are; and the daemon finds back.
    @Test(arguments: troubles, [("no", "running"), ("over", "ended")])
    func noTroubleIsAnOrder(trouble: Trouble, flags: (word: String, state: String)) async throws {
        let (server, _, daemon) = try await scene()
        try server.publish(server: ["service_end": .string(flags.word)], version: 7)
        try daemon.start()
        try await daemon.awaitState(flags.state)
        try await server.behave(trouble.name)
        try await daemon.awaitLine(trouble.line)
        #expect(try daemon.member("state") == "\"\(flags.state)\"")

        // What was ordered meanwhile is heard once the server is back, and nothing else.
        try server.publish(
            server: ["service_end": flags.word == "no" ? "over" : "no"], version: 8)
        try daemon.stop()
        try daemon.start()
        // Which version was the highest is known since the start: an old one is not read as an order.
        let line = trouble.name == "old-version" ? "is missing" : trouble.line
        try await daemon.awaitLine(line)
        #expect(try daemon.member("state") == "\"\(flags.state)\"")
        try await server.behave("ok")
        try await daemon.awaitState(flags.state == "running" ? "ended" : "running")
        #expect(try daemon.member("version") == #""8""#)
    }

    @Test func theAccountsFileIsCheckedAndNeverShown() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey("first", for: server)
        try key.enroll(at: server)
        try server.publish(server: ["service_end": "no"], version: 1)
        let wrong: [(json: String, line: String)] = [
            ("{", "read the key of the service account 'account': "),
            ("[]", "it is no JSON object"),
            (try key.json(["type": "authorized_user"]), "its 'type' is not 'service_account'"),
            (try key.json(["client_email": .null]), "its 'client_email' is missing"),
            (try key.json(["private_key": "-----BEGIN"]), "it is no private key in PEM"),
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
}
