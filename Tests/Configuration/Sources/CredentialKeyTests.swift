import Configuration
import Files
import SourceSettings
import Testing

/// The keys that name credentials.
@Suite struct CredentialKeyTests {
    /// A new role has to have a key. The second is whether requests carry the credential as it is.
    private static func key(of role: CredentialRole) -> (name: String, isCarried: Bool) {
        switch role {
        case .bearer: ("bearer", true)
        case .apiKey: ("api_key", true)
        case .clientCertificate: ("client_certificate", false)
        case .clientKey: ("client_key", false)
        case .authorities: ("ca", false)
        }
    }

    private static func text(_ keys: [String], scheme: String) -> String {
        """
        [source.app]
        type = "ofrep"
        url = "\(scheme)://flags.example.com"
        \(keys.map { "\($0) = \"/\($0)\"" }.joined(separator: "\n"))
        [service.shop]
        source = "app"
        format = "switch"
        """
    }

    @Test func eachRoleIsReadFromItsKey() throws {
        let names = CredentialRole.allCases.map { Self.key(of: $0).name }
        let source = try #require(try load(Self.text(names, scheme: "https")).sources.first)
        guard case .ofrep(let settings) = source.kind else {
            Issue.record("it is of another type")
            return
        }
        for role in CredentialRole.allCases {
            #expect(settings.server.credentials[role]?.text == "/\(Self.key(of: role).name)")
        }
    }

    @Test(arguments: CredentialRole.allCases)
    func whatRequestsCarryIsNotSentInClear(_ role: CredentialRole) {
        let (name, isCarried) = Self.key(of: role)
        let keys = role == .clientKey ? ["client_certificate", name] : [name]
        let isRefused = errors(in: Self.text(keys, scheme: "http")).contains("sent in clear")
        #expect(isRefused == isCarried)
    }
}
