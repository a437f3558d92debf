import Files
import Support
import Testing

/// What a guard makes of each answer and of none: `killswitchd --check --probe` asks it as the daemon does.
@Suite(.timeLimit(.minutes(5))) struct GuardOutcomeTests {
    private static let vector =
        #"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"0"]}]}}"#
    private static let none =
        #"{"status":"success","data":{"resultType":"vector","result":[]}}"#

    /// What the probe says of a guard with these keys. The time is short where the cause is that no answer comes: any
    /// other answer may take long on a busy machine.
    private func probe(
        _ keys: String, in folder: TemporaryFolder, timeout: String = "30s", for cause: String = ""
    ) throws -> String {
        let timeout = cause.hasPrefix("no complete answer") ? "400ms" : timeout
        try folder.write(#"{"state":"running"}"#, to: "flags.json")
        try folder.write(
            """
            [service.shop]
            source = "file:flags.json"
            format = "switch"
            guard = "errors"
            [guard.errors]
            timeout = "\(timeout)"
            \(keys)
            """, to: "killswitchd.toml")
        let result = try Programs.run(
            "killswitchd",
            [
                "--check", "--probe", "--config", folder("killswitchd.toml"),
                "--runtime-directory", folder("run"), "--state-directory", folder("state"),
            ]
        ).expect(0)
        let line = result.output.split(separator: "\n").last { $0.hasPrefix("guard ") }
        return String(try #require(line, "\(result.output)\(result.errors)"))
    }

    private static func prometheus(_ server: FlagServer, scheme: String = "http") -> String {
        let host = scheme == "http" ? "127.0.0.1" : "localhost"
        return """
            prometheus = "\(scheme)://\(host):\(server.port)/team"
            query = '''sum(x{a="ä&+"}) < 1'''
            """
    }

    @Test func theQueryArrivesAsItIsWritten() async throws {
        let server = try await FlagServer()
        try server.folder.write(Self.vector, to: "document")
        try await server.behave("document")
        #expect(
            try probe(Self.prometheus(server), in: TemporaryFolder()) == "guard 'errors' passes")
        let request = try #require(try server.requests.last)
        #expect(request.method == "POST" && request.path == "/team/api/v1/query")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            request.body
                == "query=sum%28x%7Ba%3D%22%C3%A4%26%2B%22%7D%29%20%3C%201&timeout=30s")
        // A part of a second is no time limit of Prometheus. On a busy machine the first of them may be over too early.
        try await waitUntil("it arrives with a whole second") {
            _ = try probe(Self.prometheus(server), in: TemporaryFolder(), timeout: "999ms")
            return try server.requests.contains { $0.body.hasSuffix("&timeout=1s") }
        }
        try server.folder.write(Self.none, to: "document")
        #expect(
            try probe(Self.prometheus(server), in: TemporaryFolder())
                == "guard 'errors' does not pass: its query gives no sample")
    }

    @Test(arguments: [
        ("page", "it answers with a page of HTML, as a proxy or a login does"),
        ("empty", "its answer is no JSON"), ("truncated", "its answer is no JSON"),
        ("duplicate", "its answer is no JSON"), ("nested", "its answer is no JSON"),
        ("list", "its answer is not that of the API of Prometheus"),
        ("running", "its answer is not that of the API of Prometheus"),
        ("204", "it answers with status 204"), ("400", "it answers with status 400"),
        ("401", "it answers with status 401"), ("404", "it answers with status 404"),
        ("422", "it answers with status 422"), ("500", "it answers with status 500"),
        ("503", "it answers with status 503"), ("seconds-429", "it answers with status 429"),
        ("304", "it redirects (304), which is not followed; correct the URL"),
        ("redirect-once", "it redirects (302), which is not followed; correct the URL"),
        ("redirect-port", "it redirects (302), which is not followed; correct the URL"),
        ("redirect-host", "it redirects (302), which is not followed; correct the URL"),
        ("large", "the answer is larger than 1048576 bytes"),
        ("bomb", "the answer is larger than 1048576 bytes"),
        ("headers", "the headers are larger than "),
        ("hang-up", "the answer is broken: the server closed the connection without an answer"),
        ("nonsense", "the answer is broken: it is not valid HTTP"),
        ("cut-short", "the answer is broken: it was cut short"),
        ("other-coding", "the answer is encoded as 'br', which is not accepted"),
        ("silence", "no complete answer within "), ("drip", "no complete answer within "),
        ("header-drip", "no complete answer within "),
        ("closed", "cannot connect: connection refused"),
    ]) func anotherAnswerOfPrometheusHoldsTheStep(_ behaviour: String, _ cause: String) async throws
    {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let said = try probe(Self.prometheus(server), in: TemporaryFolder(), for: cause)
        #expect(said.hasPrefix("guard 'errors' does not pass: \(cause)"), "\(said)")
    }

    @Test(
        arguments: [
            ("running", nil), ("page", nil), ("204", nil),
            ("201", "it answers 201"), ("401", "it answers 401 (unauthorized)"),
            ("404", "it answers 404 (not found)"), ("503", "it answers 503 (unavailable)"),
            ("redirect-once", "it redirects (302), which is not followed; correct the URL"),
            ("redirect-port", "it redirects (302), which is not followed; correct the URL"),
            ("large", "the answer is larger than 1048576 bytes"),
            ("cut-short", "the answer is broken: it was cut short"),
            ("drip", "no complete answer within "), ("silence", "no complete answer within "),
            ("closed", "cannot connect: connection refused"),
        ] as [(String, String?)])
    func theStatusOfADocumentIsTheAnswer(_ behaviour: String, _ cause: String?) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let url = "url = \"http://127.0.0.1:\(server.port)/gate\""
        let said = try probe(url, in: TemporaryFolder(), for: cause ?? "")
        let expected =
            cause.map { "guard 'errors' does not pass: \($0)" } ?? "guard 'errors' passes"
        #expect(said.hasPrefix(expected), "\(said)")
        if behaviour == "running" { #expect(try server.requests.last?.method == "GET") }
    }

    @Test(arguments: [
        ("running", ""), ("expired", "certificate not accepted: "),
        ("other-name", "certificate not accepted: "),
        ("other-authority", "certificate not accepted: "), ("tls-1.1", "no secure connection: "),
        ("client-certificate", ""),
    ]) func aCertificateThatIsNotAcceptedHoldsTheStep(
        _ behaviour: String, _ cause: String
    ) async throws {
        let server = try await FlagServer(isSecure: true)
        try await server.behave(behaviour)
        let url = """
            url = "https://localhost:\(server.port)/gate"
            ca = "\(server.folder("authority.pem"))"
            client_certificate = "\(server.folder("client.crt"))"
            client_key = "\(server.folder("client.key"))"
            """
        let said = try probe(url, in: TemporaryFolder())
        #expect(
            said.hasPrefix(
                cause.isEmpty
                    ? "guard 'errors' passes" : "guard 'errors' does not pass: \(cause)"),
            "\(said)")
    }

    @Test func anAuthorityOfTheSystemAloneAndAMissingCredentialHoldTheStep() async throws {
        let server = try await FlagServer(isSecure: true)
        let url = "url = \"https://localhost:\(server.port)/gate\"\n"
        let stranger = try probe(url, in: TemporaryFolder())
        #expect(stranger.hasPrefix("guard 'errors' does not pass: certificate not accepted: "))
        let missing = try probe(
            url + "bearer = \"/nowhere/token\"", in: TemporaryFolder())
        #expect(
            missing.hasPrefix("guard 'errors' does not pass: it cannot be asked: "), "\(missing)")
        #expect(missing.contains("/nowhere/token"))
    }

    @Test func aNameThatDoesNotResolveHoldsTheStep() throws {
        let said = try probe(
            "url = \"http://guard.invalid/\"", in: TemporaryFolder())
        #expect(said.hasPrefix("guard 'errors' does not pass: "), "\(said)")
    }
}
