import CivilTime
import Decision
import EventLoop
import Files
import FlagSources
import HTTP
import Requests
import SourceSettings
import Support
import Testing

/// Each credential of a site counts wherever credentials count.
@Suite struct CredentialRoleTests {
    /// An answer's ETag is sent only with the credentials that it came by.
    @Test(arguments: CredentialRole.allCases)
    func anotherSecretIsAnotherBinding(_ role: CredentialRole) throws {
        let folder = try TemporaryFolder()
        let fingerprint = { (content: String?) in
            var settings = HTTPSettings(url: "http://127.0.0.1:1/flags")
            if let content {
                try folder.write(content, to: "credential")
                settings.credentials[role] = Credential("credential")
            }
            let loop = try EventLoop()
            let environment = HostEnvironment(
                credentialsDirectory: folder.path, user: 0, userAgent: "test", stateDirectory: "")
            let context = SourceDependencies.ofTests(
                "app", try HTTPClient(loop), loop, environment: environment
            ) { _ in }
            return HTTPSource(settings, context).fingerprint
        }
        let bindings = [try fingerprint(nil), try fingerprint("a"), try fingerprint("b")]
        #expect(Set(bindings).count == (role == .authorities ? 1 : 3))
        #expect(!bindings.contains { $0.hasSuffix("unknown") })
    }
}

/// The three forms of Retry-After, and malformed values.
@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the time in the examples of RFC 9110.
    private static let now = Instant(seconds: 784_111_777)

    @Test(
        arguments: [
            ("0", .zero),
            ("120", .seconds(120)),
            ("007", .seconds(7)),
            ("99999999999999999999999", .seconds(86_400 * 366)),
            ("-5", .zero),
            ("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)),
            ("Sunday, 06-Nov-94 08:50:07 GMT", .seconds(30)),
            ("Sun Nov  6 08:50:07 1994", .seconds(30)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", .zero),
            ("1994-11-06T08:50:07Z", .seconds(30)),
            ("1994-11-06T09:50:07.5+01:00", .milliseconds(30_500)),
            ("1994-11-06T08:00:00Z", .zero),
            ("", nil),
            ("-", nil),
            ("1.5", nil),
            ("soon", nil),
            ("120 s", nil),
        ] as [(String, Duration?)])
    func retryAfterIsReadRelativeToTheTimeOfTheAnswer(_ text: String, _ wait: Duration?) {
        #expect(RetryAfter.wait(text, now: Self.now) == wait)
    }
}
