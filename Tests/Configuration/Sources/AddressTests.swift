import Configuration
import Decision
import Files
import SourceSettings
import Testing

/// The sources that addresses make: name, path and the line of the address.
private func sources(of text: String, file: String = file) throws(ConfigurationError) -> [String] {
    try load(text, file: file).sources.map { source in
        switch source.kind {
        case .file(let path, _): "\(source.name) \(path) \(source.origin.line)"
        case .http(let settings): "\(source.name) \(settings.url) \(source.origin.line)"
        case .etcd, .ofrep, .firebase, .firebaseServer:
            "\(source.name), which no address can be of"
        }
    }
}

@Test func theSameAddressIsOneSource() throws {
    let text = """
        [service.shop]
        source = "file:/etc/killswitchd/flags.json"
        format = "status"
        [[service.blog.switch]]
        source = "file:flags.json"
        format = "status"
        [[service.blog.switch]]
        source = "file:.//./flags.json"
        format = "maintenance"
        [[service.blog.switch]]
        source = "file:other.json"
        format = "maintenance"
        """
    #expect(
        try sources(of: text) == [
            "shop /etc/killswitchd/flags.json 2", "blog /etc/killswitchd/other.json 11",
        ])
    let switches = try load(text).services.flatMap(\.switches).map(\.source.text)
    #expect(switches == ["shop", "shop", "shop", "blog"])
}

@Test func anImpliedSourceTakesTheNextFreeName() throws {
    #expect(
        try sources(
            of: """
                [source.shop]
                type = "file"
                path = "/explicit"
                [source.shop-3]
                type = "file"
                path = "/explicit"
                [[service.shop.switch]]
                source = "file:/a"
                format = "status"
                [[service.shop.switch]]
                source = "file:/b"
                format = "status"
                """) == [
                "shop /explicit 1", "shop-3 /explicit 4", "shop-2 /a 8", "shop-4 /b 11",
            ])
}

@Test func aLongNameIsShortenedToMakeRoomForTheNumber() throws {
    let service = String(repeating: "s", count: 63)
    let names = try load(
        """
        [[service.\(service).switch]]
        source = "file:/a"
        format = "status"
        [[service.\(service).switch]]
        source = "file:/b"
        format = "status"
        """
    ).sources.map(\.name.text)
    #expect(names == [service, "\(service.dropLast(2))-2"])
}

@Test func anAddressIsNotTheSourceOfATableWithTheSamePath() throws {
    #expect(
        try sources(
            of: """
                [source.app]
                type = "file"
                path = "/a"
                interval = "1h"
                \(shopTable)
                """) == ["app /a 1", "shop /a 6"])
}

@Test(arguments: [
    ("/a/b", "/etc/k/k.toml", "/a/b"),
    ("///a//b/", "/etc/k/k.toml", "/a/b"),
    ("b", "/etc/k/k.toml", "/etc/k/b"),
    ("./b", "/etc/k/k.toml", "/etc/k/b"),
    ("../b", "/etc/k/k.toml", "/etc/k/../b"),
    ("c:d", "/k.toml", "/c:d"),
    ("b", "k.toml", "b"),
    ("b", "./conf/k.toml", "conf/b"),
    ("ä %20", "/etc/k/k.toml", "/etc/k/ä %20"),
    // As characters the slash and the combining mark are one; as bytes they are two.
    ("a/\u{301}b", "/etc/\u{301}k/k.toml", "/etc/\u{301}k/a/\u{301}b"),
])
func aPathBeginsInTheFolderOfTheFileThatNamesIt(
    address: String, file: String, path: String
) throws {
    let text = "[service.s]\nsource = \"file:\(address)\"\nformat = \"status\""
    #expect(try sources(of: text, file: file) == ["s \(path) 2"])
}

/// The query of an address may hold a token, and its user a password. The output of `--check` and the
/// refusal of a configuration are for everybody.
@Suite struct SecretAddressTests {
    @Test(arguments: [
        ("https://a.example/x?token=1", "https://a.example/x?…"),
        ("https://a.example?token=1?2", "https://a.example?…"),
        ("https://a.example/x#token", "https://a.example/x#…"),
        ("https://ann:pw@a.example/x?token=1", "https://…@a.example/x?…"),
        ("https://ann:p?w@a.example/x", "https://…@a.example/x"),
        ("https://ann:p@w@a.example", "https://…@a.example"),
        ("//ann:pw@a.example", "//…@a.example"),
        ("https://a.exa mple/x?token=1", "https://a.exa mple/x?…"),
        ("htps:/a.example?token=1", "htps:/a.example?…"),
        ("a.example/x?token=1", "a.example/x?…"),
        ("https://a.example/@scope/x", "https://a.example/@scope/x"),
        ("https://a.example/x", "https://a.example/x"),
        ("file:/etc/flags?.json", "file:/etc/flags?.json"),
        ("what?", "what?"), ("", ""), ("?", "?"), ("/", "/"), ("//", "//"),
    ])
    func anAddressIsShownWithoutItsSecrets(_ text: String, _ shown: String) {
        #expect(text.withoutSecrets == shown)
    }

    /// Each holds an address with a token or a password, at each place that a message quotes.
    static let configurations = [
        #"[service.shop]\#nsource = "ADDRESS"\#nformat = "status""#,
        #"[service.shop]\#nsource = "ADDRESS"\#nformat = "ADDRESS""#,
        #"[source.a]\#ntype = "http"\#nurl = "ADDRESS""#,
        #"[source.a]\#ntype = "http"\#nurl = ADDRESS"#,
        #"[source.a]\#ntype = "http"\#nurl = "ADDRESS"#,
        #"[source.a]\#ntype = "http"\#nurl = "ADDRESS" x"#,
        #"[source.a]\#ntype = "http"\#nunix_socket = "ADDRESS""#,
        #"[source.a]\#ntype = "http"\#nbearer = "ADDRESS""#,
        #"[source.a]\#ntype = "http"\#nca = "ADDRESS""#,
        #"[source.a]\#ntype = "ofrep"\#nurl = "ADDRESS""#,
        #"[source.a]\#ntype = "etcd"\#nprefix = "/"\#nendpoints = ["ADDRESS", "ADDRESS"]"#,
        #"[source.a]\#ntype = "firebase"\#nbase_url = "ADDRESS"\#ninstallations_url = "ADDRESS""#,
        #"[source.a]\#ntype = "firebase-server"\#nbase_url = "ADDRESS""#,
        #"[source.a]\#ntype = "ADDRESS"\#ninterval = "ADDRESS""#,
        #"[source."ADDRESS"]\#ntype = "http""#,
        #"[service."ADDRESS"]\#nformat = "status""#,
        #"["ADDRESS"]"#,
        #"[source.a]\#n"ADDRESS" = 1"#,
    ]

    static let addresses = [
        "https://a.example/x?token=SECRET", "http://a.example/x?token=SECRET",
        "https://ann:SECRET@a.example/x", "htps://a.example/x?token=SECRET",
        "https://a.exa mple/x?token=SECRET", "a.example/x?token=SECRET",
        "https://a.example:0/x?token=SECRET",
    ]

    @Test(arguments: configurations, addresses)
    func aTokenInAnAddressIsInNoMessage(_ configuration: String, _ address: String) {
        let text = configuration.replacing("ADDRESS", with: address)
        do {
            let settings = try load(text)
            #expect(!settings.effective.map(\.description).joined().contains("SECRET"))
            #expect(!settings.warnings.map(\.description).joined().contains("SECRET"))
        } catch {
            #expect(!error.description.contains("SECRET"), "\(error)")
        }
    }
}

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
