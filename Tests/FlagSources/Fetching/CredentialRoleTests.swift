import Decision
import EventLoop
import Files
import FlagSources
import HTTP
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
                try #require(SourceName("app")), try HTTPClient(loop), loop,
                environment: environment
            ) { _ in }
            return HTTPSource(settings, context).fingerprint
        }
        let bindings = [try fingerprint(nil), try fingerprint("a"), try fingerprint("b")]
        #expect(Set(bindings).count == (role == .authorities ? 1 : 3))
        #expect(!bindings.contains { $0.hasSuffix("unknown") })
    }
}
