import Configuration
import SourceSettings
import Testing

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
