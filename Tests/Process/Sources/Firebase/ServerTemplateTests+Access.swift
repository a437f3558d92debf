import Files
import JSON
import Support
import Testing

/// Where the access token comes from, and where it never appears.
extension ServerTemplateTests {
    @Test func theAccountsFileIsCheckedAndNeverShown() async throws {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey.enrolled(at: server)
        try server.publish(server: ["service_end": "no"], version: 1)
        let stranger = "400: invalid_grant: Invalid grant: account not found"
        let changes: [(JSON.Object, line: String)] = [
            (["type": "authorized_user"], "its 'type' is not 'service_account'"),
            (["client_email": .null], "its 'client_email' is missing"),
            (["private_key": "-----BEGIN"], "it is not a private key in PEM"),
            (["token_uri": "http://127.example.com/token"], "its 'token_uri' is not https"),
            (["token_uri": "http://10.0.0.1/"], "its 'token_uri' is not https"),
            (["token_uri": "ftp://127.0.0.1/"], "its 'token_uri' is not https"),
            (["client_email": "stranger@demo.iam"], stranger),
            (
                ["token_uri": .string("\(server.url)/nowhere")],
                "404 (not found): NOT_FOUND: No such method."
            ),
        ]
        let wrong = [
            ("{", "read the key of the service account 'account': "),
            ("[]", "it is not a JSON object"),
        ]
        let daemon = try Daemon(serverTemplateOf: server, account: "")
        for (json, line) in try wrong + changes.map({ (try key.json($0), $1) }) {
            try daemon.folder.write(json, to: "account")
            try await daemon.start(awaitingLine: line)
            #expect(try !daemon.log.contains("PRIVATE"))
            try daemon.stop()
        }
        #expect(try server.requests(to: Self.template).isEmpty)
        try daemon.folder.write(try key.json(), to: "account")
        try await daemon.start(awaiting: "running")
    }

    @Test func aTokenIsRenewedBeforeItEndsAndOnceMoreWhenItIsRefused() async throws {
        let (server, daemon) = try await scene()
        try await server.behave("short-tokens")
        try await daemon.start(awaiting: "running")
        try await server.awaitRequests(to: "/token") { $0 > 2 }
        try await server.behave("ok")
        try await waitUntil("a long token is used") {
            let used = try server.requests(to: Self.template).map { $0.headers["authorization"] }
            return used.count > 20 && Set(used.suffix(20)).count == 1
        }
        let count = try server.requests(to: "/token").count
        try server.folder.write("forget-tokens", to: "case")
        try await server.awaitRequests(to: "/token", exactly: count + 1)
        try await server.end(daemon, server: 2)
        #expect(try daemon.warnings.filter { !$0.contains("below 60 s") } == [])
    }

    @Test func aKeyThatIsReplacedIsUsedFromThenOn() async throws {
        let (server, daemon) = try await scene()
        try await daemon.start(awaiting: "running")
        let second = try ServiceAccountKey("second", for: server)
        try second.enroll(at: server)
        try await daemon.awaitLine("invalid_grant")
        #expect(try daemon.log.contains("is the clock right, and is the key still valid?"))
        #expect(try daemon.member("state") == #""running""#)
        try daemon.folder.write(try second.json(), to: "account")
        try await server.end(daemon, server: 2)
    }

    /// Plain http to this machine goes through no proxy.
    @Test(arguments: [nil, "http://127.0.0.1:1"])
    func theMetadataServerGivesTokensWhereThereAreNoCredentials(_ proxy: String?) async throws {
        let server = try await FirebaseServer()
        try server.publish(server: ["service_end": "over"], version: 1)
        let daemon = try Daemon(serverTemplateOf: server, account: nil)
        daemon.environment["http_proxy"] = proxy
        try await daemon.start(awaiting: "ended")
        let asked = try server.requests(to: "/default/token")
        #expect(asked.count == 1 && asked.first?.headers["metadata-flavor"] == "Google")
        #expect(try daemon.warnings.filter { !$0.contains("below 60 s") } == [])
    }

    @Test func anAnswerNotFromAMetadataServerGivesNoToken() async throws {
        let server = try await FirebaseServer()
        try await server.behave("no-flavor")
        let daemon = try Daemon(serverTemplateOf: server, account: nil)
        try await daemon.start(awaitingLine: "the answer is not from a metadata server")
        #expect(try server.requests(to: Self.template).isEmpty)
    }

    // MARK: - Conditions with regular expressions, by RE2

    /// An expression, and its result for the signal `release-4.2 GOLD`.
    private struct Expression {
        let name: String
        let pattern: String
        var isFound = false
        /// The error of RE2 for an invalid expression.
        var problem: String?
    }

    private static let expressions = [
        Expression(name: "inside", pattern: "ease-[0-9]+", isFound: true),
        Expression(name: "whole", pattern: "^release-4\\.2 GOLD$", isFound: true),
        Expression(name: "anchored", pattern: "^4"),
        Expression(name: "other_case", pattern: "gold"),
        Expression(name: "any_case", pattern: "(?i)gold", isFound: true),
        Expression(name: "class", pattern: "\\p{Lu}{4}", isFound: true),
        Expression(name: "slow_elsewhere", pattern: "(e*)*(e*)*(e*)*x"),
        Expression(name: "look_ahead", pattern: "(?=gold)", problem: "invalid perl operator: (?="),
        Expression(name: "open", pattern: "(gold", problem: "missing ): (gold"),
    ]

    @Test func conditionsWithRegularExpressionsAreSearchedFor() async throws {
        let names = Self.expressions.map(\.name)
        let (server, daemon) = try await scene(
            source: #"signals = { label = "release-4.2 GOLD" }"#,
            service: Daemon.serviceEnd + "\n[service.shop.values]\n"
                + names.map { "\($0) = { type = \"string\", default = \"?\" }\n" }.joined())
        var parameters: JSON.Object = ["service_end": "over"]
        var conditions: [JSON.Value] = []
        var conditional = JSON.Object()
        for expression in Self.expressions {
            parameters[expression.name] = "not found"
            conditional[expression.name] = .object(
                JSON.Object([(expression.name, .object(["value": "found"]))]))
            conditions.append([
                "name": .string(expression.name),
                "condition": .signal(
                    "label", "STRING_CONTAINS_REGEX", [.string(expression.pattern)]),
            ])
        }
        try server.publish(
            server: parameters, version: 2, conditions: .array(conditions),
            conditional: conditional)
        try await daemon.start(awaiting: "ended")
        let text = try #require(try daemon.member("values"))
        let values = try #require(try JSON.Value.parse(text).object)
        for expression in Self.expressions {
            #expect(
                values[expression.name]?.string == (expression.isFound ? "found" : "not found"),
                "\(expression.name)")
            if let problem = expression.problem {
                #expect(
                    try daemon.lines(with: "condition '\(expression.name)' counts as false")
                        .contains { $0.contains(problem) }, "\(problem)")
            }
        }
    }
}
