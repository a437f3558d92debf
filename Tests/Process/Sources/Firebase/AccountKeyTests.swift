import JSON
import Support
import Testing

/// The private key of a service account in each form that occurs, as the shipped daemon reads it.
///
/// An optimised daemon once refused every valid key: it lent the bytes to libcrypto for one call,
/// libcrypto kept the pointer, and the array was freed before the key was read. Freed memory is
/// overwritten here, so that such a mistake fails each time.
@Suite(.timeLimit(.minutes(5))) struct AccountKeyTests {
    /// A form of a key, and whether it is accepted.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The cause in the log for a refused key; nil for an accepted key.
        let refusal: String?
        /// The arguments of openssl(1) that write `out.pem`, from `key.pem` where they name it.
        let conversion: String
        /// Changes the text of the key.
        let key: @Sendable (String) -> String
        /// Changes the text of the account's file.
        let file: @Sendable (String) -> String

        init(
            _ name: String, _ refusal: String? = nil, made conversion: String = "",
            key: @escaping @Sendable (String) -> String = { $0 },
            file: @escaping @Sendable (String) -> String = { $0 }
        ) {
            (testDescription, self.refusal, self.conversion) = (name, refusal, conversion)
            (self.key, self.file) = (key, file)
        }
    }

    private static let unreadable = "it is not a private key in PEM, or only a part of one"
    private static let encrypted = "the private key is encrypted; write it without a passphrase"
    private static let otherKind = "it is not an RSA key"

    static let forms = [
        Form("PKCS #8, as the console writes it"),
        Form(
            "all members of a file of gcloud",
            file: { file in
                let more = #""client_id": "1", "auth_uri": "https://accounts.google.com/","#
                return file.replacing("{\n", with: "{\n\(more)\n", maxReplacements: 1) + "\n"
            }),
        Form("the file on one line", file: { $0.replacing("\n", with: " ") }),
        Form("the file with Windows line ends", file: { $0.replacing("\n", with: "\r\n") }),
        Form("the key with Windows line ends", key: { $0.replacing("\n", with: "\r\n") }),
        Form("no line end after the key", key: { String($0.dropLast()) }),
        Form("text around the key", key: { "Bag Attributes\n\($0)\nthe end\n" }),
        Form("PKCS #1", made: "rsa -in key.pem -traditional -out out.pem"),

        Form("the first half", unreadable, key: { String($0.prefix(850)) }),
        Form("no last line", unreadable, key: { String($0.prefix($0.count - 27)) }),
        Form(
            "a line is missing", unreadable,
            key: { key in
                var lines = key.split(separator: "\n")
                lines.remove(at: 5)
                return lines.joined(separator: "\n") + "\n"
            }),
        Form(
            "line ends that were escaped twice", unreadable,
            key: { $0.replacing("\n", with: #"\n"#) }),
        Form(
            "the base64 alone", unreadable,
            key: { $0.split(separator: "\n").dropFirst().dropLast().joined() }),
        Form("a public key", unreadable, made: "rsa -in key.pem -pubout -out out.pem"),
        Form(
            "encrypted PKCS #8", encrypted,
            made: "pkcs8 -topk8 -in key.pem -out out.pem -passout pass:secret"),
        Form(
            "encrypted PKCS #1", encrypted,
            made: "rsa -in key.pem -traditional -aes256 -out out.pem -passout pass:secret"),
        Form(
            "EC, PKCS #8", otherKind,
            made: "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out out.pem"),
        Form(
            "EC, the older form", otherKind,
            made: "ecparam -name prime256v1 -genkey -out out.pem"),
        Form("Ed25519", otherKind, made: "genpkey -algorithm ED25519 -out out.pem"),
        Form("empty", "its 'private_key' is missing", key: { _ in "" }),
    ]

    @Test(arguments: forms) func eachFormIsAcceptedOrRefusedWithItsReason(form: Form) async throws {
        let (server, account) = try await published()
        let key = form.key(try converted(try account.privateKey, by: form.conversion))
        let daemon = try Daemon(
            serverTemplateOf: server,
            account: form.file(try account.json(["private_key": .string(key)])))
        try daemon.start()
        if let refusal = form.refusal {
            try await daemon.awaitLine("read the key of the service account 'account': \(refusal)")
            #expect(try server.requests(to: "/token").isEmpty)
        } else {
            // The server gives a token only for a valid signature.
            try await daemon.awaitState("ended")
            #expect(try daemon.warnings.allSatisfy { $0.contains("is below 60 s: ") })
        }
        #expect(try !daemon.log.contains("PRIVATE"))
    }

    /// A server with the end of the service, and the account that may read it.
    private func published() async throws -> (FirebaseServer, ServiceAccountKey) {
        let server = try await FirebaseServer()
        try server.publish(server: ["service_end": "over"], version: 1)
        return (server, try ServiceAccountKey.enrolled(at: server))
    }

    /// The key as this openssl command writes it to `out.pem`; the key itself without a command.
    private func converted(_ key: String, by command: String) throws -> String {
        if command.isEmpty { return key }
        let folder = try TemporaryFolder()
        try folder.write(key, to: "key.pem")
        try Program.succeed(
            "/usr/bin/openssl",
            command.split(separator: " ").map { $0.hasSuffix(".pem") ? folder("\($0)") : "\($0)" })
        return try folder.text(of: "out.pem")
    }

    /// The libraries of the official client verify the daemon's assertion with the public key of the
    /// account, and make an assertion with the same content.
    @Test func theOfficialClientAcceptsOurAssertion() async throws {
        let (server, account) = try await published()
        let daemon = try Daemon(serverTemplateOf: server, account: try account.json())
        try await daemon.start(awaiting: "ended")
        let form = try #require(try server.requests(to: "/token").first?.body)
        let assertion = try #require(form.split(separator: "assertion=").last)

        let checked = try check(assertion, of: account, with: account)
        try #require(checked.errors == "")
        let shown = try #require(try JSON.Value.parse(checked.output).object)
        let (ours, theirs) = (shown["ours"]?.object, shown["theirs"]?.object)
        #expect(ours?["header"] == .object(["alg": "RS256", "typ": "JWT", "kid": "first"]))
        #expect(ours?["header"] == theirs?["header"])
        #expect(ours?["claims"] == theirs?["claims"])

        let stranger = try check(
            assertion, of: account, with: try ServiceAccountKey("other", for: server))
        #expect(stranger.status == 1)
        #expect(stranger.errors.contains("Could not verify token signature"))
    }

    /// Checks an assertion for `account` with the public key of `signer`.
    private func check(
        _ assertion: Substring, of account: ServiceAccountKey, with signer: ServiceAccountKey
    ) throws -> Program.Result {
        let folder = try TemporaryFolder()
        try folder.write(
            try converted(try signer.privateKey, by: "rsa -in key.pem -pubout -out out.pem"),
            to: "public.pem")
        try folder.write(try account.json(), to: "account.json")
        return try Program.run(
            try PythonEnvironment.ready().python,
            [
                Programs.file("Firebase/check-assertion.py"), folder("account.json"),
                folder("public.pem"), String(assertion),
            ])
    }
}
