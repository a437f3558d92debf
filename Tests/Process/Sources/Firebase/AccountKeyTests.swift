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
        let name: String
        /// The cause in the log for a refused key; nil for an accepted key.
        var refusal: String?
        /// The arguments of openssl(1) that write `out.pem`, from `key.pem` where they name it.
        var conversion: [String] = []
        /// Changes the text of the key.
        var key: @Sendable (String) -> String = { $0 }
        /// Changes the text of the account's file.
        var file: @Sendable (String) -> String = { $0 }

        var testDescription: String { name }
    }

    private static let unreadable = "it is not a private key in PEM, or only a part of one"
    private static let encrypted = "the private key is encrypted; write it without a passphrase"
    private static let otherKind = "it is not an RSA key"
    private static let passphrase = ["-passout", "pass:secret"]

    static let forms = [
        Form(name: "PKCS #8, as the console writes it"),
        Form(
            name: "all members of a file of gcloud",
            file: { file in
                let more = #""client_id": "1", "auth_uri": "https://accounts.google.com/","#
                return file.replacing("{\n", with: "{\n\(more)\n", maxReplacements: 1)
                    + "\n"
            }),
        Form(name: "the file on one line", file: { $0.replacing("\n", with: " ") }),
        Form(name: "the file with Windows line ends", file: { $0.replacing("\n", with: "\r\n") }),
        Form(name: "the key with Windows line ends", key: { $0.replacing("\n", with: "\r\n") }),
        Form(name: "no line end after the key", key: { String($0.dropLast()) }),
        Form(name: "text around the key", key: { "Bag Attributes\n\($0)\nthe end\n" }),
        Form(
            name: "PKCS #1",
            conversion: ["rsa", "-in", "key.pem", "-traditional", "-out", "out.pem"]),

        Form(name: "the first half", refusal: unreadable, key: { String($0.prefix(850)) }),
        Form(
            name: "no last line", refusal: unreadable,
            key: { String($0.prefix($0.count - 27)) }),
        Form(
            name: "a line is missing", refusal: unreadable,
            key: { key in
                var lines = key.split(separator: "\n")
                lines.remove(at: 5)
                return lines.joined(separator: "\n") + "\n"
            }),
        Form(
            name: "line ends that were escaped twice", refusal: unreadable,
            key: { $0.replacing("\n", with: #"\n"#) }),
        Form(
            name: "the base64 alone", refusal: unreadable,
            key: { $0.split(separator: "\n").dropFirst().dropLast().joined() }),
        Form(
            name: "a public key", refusal: unreadable,
            conversion: ["rsa", "-in", "key.pem", "-pubout", "-out", "out.pem"]),
        Form(
            name: "encrypted PKCS #8", refusal: encrypted,
            conversion: ["pkcs8", "-topk8", "-in", "key.pem", "-out", "out.pem"] + passphrase),
        Form(
            name: "encrypted PKCS #1", refusal: encrypted,
            conversion: [
                "rsa", "-in", "key.pem", "-traditional", "-aes256", "-out", "out.pem",
            ] + passphrase),
        Form(
            name: "EC, PKCS #8", refusal: otherKind,
            conversion: [
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                "out.pem",
            ]),
        Form(
            name: "EC, the older form", refusal: otherKind,
            conversion: ["ecparam", "-name", "prime256v1", "-genkey", "-out", "out.pem"]),
        Form(
            name: "Ed25519", refusal: otherKind,
            conversion: ["genpkey", "-algorithm", "ED25519", "-out", "out.pem"]),
        Form(name: "empty", refusal: "its 'private_key' is missing", key: { _ in "" }),
    ]

    @Test(arguments: forms)
    func eachFormIsAcceptedOrRefusedWithItsReason(form: Form) async throws {
        let server = try await FirebaseServer()
        let account = try ServiceAccountKey("first", for: server)
        try account.enroll(at: server)
        try server.publish(server: ["service_end": "over"], version: 1)
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
            #expect(try daemon.warnings == [])
        }
        #expect(try !daemon.log.contains("PRIVATE"))
    }

    /// The key as this openssl command writes it to `out.pem`; the key itself without a command.
    private func converted(_ key: String, by arguments: [String]) throws -> String {
        if arguments.isEmpty { return key }
        let folder = try TemporaryFolder()
        try folder.write(key, to: "key.pem")
        let ended = try Program.run(
            "/usr/bin/openssl", arguments.map { $0.hasSuffix(".pem") ? folder($0) : $0 })
        try #require(ended.status == 0, "\(ended.errors)")
        return try folder.text(of: "out.pem")
    }

    /// The libraries of the official client verify the daemon's assertion with the public key of the
    /// account, and make an assertion with the same content.
    @Test func theOfficialClientAcceptsOurAssertion() async throws {
        let server = try await FirebaseServer()
        let account = try ServiceAccountKey("first", for: server)
        try account.enroll(at: server)
        try server.publish(server: ["service_end": "over"], version: 1)
        let daemon = try Daemon(serverTemplateOf: server, account: try account.json())
        try daemon.start()
        try await daemon.awaitState("ended")
        let form = try #require(try server.requests(to: "/token").first?.body)
        let assertion = try #require(form.split(separator: "assertion=").last)

        let checked = try check(assertion, of: account, with: account)
        try #require(checked.errors == "")
        let shown = try #require(try JSON.Value.parse(checked.output).object)
        let (ours, theirs) = (shown["ours"]?.object, shown["theirs"]?.object)
        #expect(
            ours?["header"] == .object(["alg": "RS256", "typ": "JWT", "kid": "first"]))
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
            try converted(
                try signer.privateKey, by: ["rsa", "-in", "key.pem", "-pubout", "-out", "out.pem"]),
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
