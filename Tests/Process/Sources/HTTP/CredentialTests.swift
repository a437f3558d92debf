import Files
import Support
import Testing

/// Secrets come from credentials; a missing one fails its source, not the daemon.
@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    @Test func aBearerTokenComesFromTheCredentialsDirectoryAndIsReplacedThere() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: server, source: #"bearer = "token""#)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        let gone = "open '\(daemon.folder("token"))': no such file or directory"
        try await daemon.start(awaitingLine: "\(gone); no valid flags are known yet")
        #expect(try server.requests.isEmpty)

        try daemon.folder.write("first-token\n", to: "token")
        try await daemon.awaitState("running")
        #expect(try server.requests.first?.headers["authorization"] == "Bearer first-token")
        try await waitUntil("it asks with a condition") {
            try server.requests.last?.headers["if-none-match"] != nil
        }

        // The ETag came under the other token, so it is not sent with this one.
        try daemon.folder.write("other-token\n", to: "token")
        let isOther = { (request: FlagServer.Request) in
            request.headers["authorization"] == "Bearer other-token"
        }
        try await waitUntil("the other token is used") {
            try server.requests.contains(where: isOther)
        }
        let first = try #require(try server.requests.first(where: isOther))
        #expect(first.headers["if-none-match"] == nil)

        let stored = try daemon.folder.text(of: "state/flags/app.json")
        #expect(!stored.contains("token"))
        #expect(try !daemon.log.contains("first-token"))
    }

    @Test(arguments: [
        ("\u{FEFF}first-token", "it begins with a byte order mark"),
        ("first-token\nsecond-token\n", "it has more than one line"),
        ("Bearer first-token\n", "it begins with 'Bearer '"), ("\n", "it is empty"),
        ("first token", "it holds a blank"),
    ])
    func aTokenThatCannotBeSentSaysWhatIsWrongWithItsFile(
        _ text: String, _ cause: String
    ) async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: server, source: #"bearer = "token""#)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write(text, to: "token")
        try await daemon.start(awaitingLine: "read the token in credential 'token': \(cause)")
        #expect(try server.requests.isEmpty)
        #expect(try !daemon.log.contains("first-"))
        try daemon.folder.write("first-token\r\n", to: "token")
        try await daemon.awaitState("running")
    }

    /// A missing credential is a failure like any other: the last good flags stay in force.
    @Test func aCredentialThatIsGoneAfterARestartLeavesTheStoredFlagsInForce() async throws {
        let server = try await FlagServer()
        try await server.behave("maintenance")
        let daemon = try Daemon(asking: server, source: #"bearer = "token""#)
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.folder.write("first-token", to: "token")
        try await daemon.start(awaiting: "maintenance")
        try daemon.stop()
        daemon.environment = [:]
        let before = try server.requests.count
        try await daemon.start(
            awaitingLine: "read credential 'token': CREDENTIALS_DIRECTORY is not set")
        try daemon.expect("maintenance", "stored-flags")
        #expect(try server.requests.count == before)
    }

    @Test func aSecretThatOthersMayReadIsRefused() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: server)
        let token = daemon.folder("secret")
        try daemon.folder.write("first-token", to: "secret")
        try daemon.edit("interval =", "bearer = \"\(token)\"\ninterval =")
        try shell("chmod 640 \(token)")
        try await daemon.start(
            awaitingLine: "read credential '\(token)': its mode 640 lets others at it")
        #expect(try server.requests.isEmpty)
        try shell("chmod 600 \(token)")
        try await daemon.awaitState("running")
    }

    /// libcurl would keep the authorities for an hour, and connections that they have accepted for longer.
    @Test func aFileOfAuthoritiesThatIsReplacedCountsAtTheNextFetch() async throws {
        let server = try await FlagServer(isSecure: true)
        let (own, other) = (
            try server.folder.text(of: "authority.pem"), try server.folder.text(of: "unknown.pem")
        )
        let daemon = try await Daemon(asking: server, isSecure: true).start(awaiting: "running")
        for (file, isAccepted) in [(other, false), (own, true), (other, false), (own, true)] {
            try server.folder.write(file, to: "authority.pem")
            try await waitUntil("the server is accepted: \(isAccepted)") {
                let status = try daemon.control("status").output
                return !status.contains("unable to get local issuer") == isAccepted
            }
        }
    }
}
