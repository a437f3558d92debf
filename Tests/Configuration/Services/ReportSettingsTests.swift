import Configuration
import Files
import SourceSettings
import Support
import Testing

@Suite struct ReportSettingsTests {
    fileprivate static let shop = """
        [service.shop]
        source = "file:shop.json"
        format = "switch"
        """

    private func settings(_ more: String) throws -> HTTPSettings? {
        try load(Self.shop + "\n" + more).report?.server
    }

    private static let cluster = """

        [source.app]
        type = "etcd"
        endpoints = ["https://a:2379"]
        prefix = "/flags/"
        [source.inside]
        type = "etcd"
        endpoints = ["https://a:2379"]
        prefix = "/flags/shop"
        [report]

        """

    @Test func aClusterGetsTheBrief() throws {
        let report = try #require(try load(Self.shop + Self.cluster + "etcd = \"app\"").report)
        #expect(report.cluster == "app" && report.server == nil && report.spread == .seconds(60))
        let both = try load(
            Self.shop + Self.cluster + "etcd = \"app\"\nspread = \"0s\"\nurl = \"https://b/\"")
        #expect(both.report?.cluster == "app" && both.report?.server?.url == "https://b/")
        #expect(both.report?.spread == .zero)
        #expect(!both.warnings.contains { "\($0)".contains("'app' is used by no service") })
    }

    @Test(arguments: [
        ("etcd = \"apq\"", "unknown source 'apq' for 'etcd' in [report]; did you mean 'app'?"),
        ("etcd = \"shop\"", "'shop' is not of type 'etcd'"),
        ("etcd = 7", "wrong type for 'etcd' in [report]: expected the name of a source"),
        (
            "etcd = \"inside\"",
            "what hosts say at '/flags/shop-hosts/' would be among the flags of source 'app'"
        ),
        (
            """
            etcd = "app"
            [source.near]
            type = "etcd"
            endpoints = ["https://a:2379"]
            prefix = "/flags-hosts-alive/"
            """,
            "what hosts say at '/flags-hosts/' would be among the flags of source 'near'"
        ),
        ("etcd = \"app\"\nbearer = \"t\"", "unknown key 'bearer' in [report]"),
        ("etcd = \"app\"\nspread = \"2h\"", "for 'spread' in [report]"),
    ]) func anErrorOfAClusterSaysWhatToWrite(_ report: String, _ message: String) {
        let printed = errors(in: Self.shop + Self.cluster + report)
        #expect(printed.contains(message), "\(printed)")
    }

    @Test func withoutATableNothingIsReported() throws {
        #expect(try settings("") == nil)
    }

    @Test func theSiteHasTheKeysOfASource() throws {
        let settings = try #require(
            try settings(
                """
                [report]
                url = "https://fleet.example.com/hosts"
                bearer = "fleet-token"
                ca = "fleet-ca"
                client_certificate = "host"
                headers = { X-Team = "shop" }
                timeout = "5s"
                """))
        #expect(settings.url == "https://fleet.example.com/hosts")
        #expect(settings.credentials[.bearer]?.text == "fleet-token")
        #expect(settings.credentials[.authorities]?.text == "fleet-ca")
        #expect(settings.credentials[.clientCertificate]?.text == "host")
        #expect(settings.headers == [HeaderField(name: "X-Team", value: "shop")])
        #expect(settings.limits.timeout == .seconds(5))
    }

    @Test(arguments: [
        ("", "missing key 'url' in [report]"),
        ("url = 7", "wrong type for 'url' in [report]"),
        (#"url = "ftp://a""#, "it begins with neither 'https://' nor 'http://'"),
        (#"url = "https://u:p@a""#, "do not write a user or password in a URL"),
        (
            "url = \"http://fleet.example.com/\"\nbearer = \"token\"",
            "'bearer' in [report] would be sent in clear: 'url' is not https"
        ),
        (
            "url = \"https://fleet.example.com/\"\nbearers = \"token\"",
            "unknown key 'bearers' in [report]; did you mean 'bearer'?"
        ),
    ])
    func anErrorSaysWhatToWrite(_ report: String, _ message: String) {
        let printed = errors(in: Self.shop + "\n[report]\n" + report)
        #expect(printed.contains(message), "\(printed)")
    }
}

@Suite struct MetricsSettingsTests {
    private func textfile(_ more: String) throws -> String? {
        try load(ReportSettingsTests.shop + "\n" + more).textfile
    }

    @Test func theTextfileIsAPathThatTheNodeExporterReads() throws {
        let path = "/var/lib/prometheus/node-exporter/killswitchd.prom"
        #expect(try textfile("[metrics]\ntextfile = \"\(path)\"") == path)
        #expect(try textfile("[metrics]") == nil)
        #expect(try textfile("") == nil)
    }

    @Test(arguments: [
        (
            #"textfile = "killswitchd.prom""#,
            "bad path 'killswitchd.prom' for 'textfile' in [metrics]: write the whole path, from '/'"
        ),
        (
            #"textfile = "/var/lib/killswitchd.txt""#,
            "bad path '/var/lib/killswitchd.txt' for 'textfile' in [metrics]: "
                + "the node exporter reads files '*.prom' alone"
        ),
        (
            #"textfile = """#,
            "bad path '' for 'textfile' in [metrics]: write the whole path, from '/'"
        ),
        (
            "textfile = true",
            "wrong type for 'textfile' in [metrics]: expected the path of a file, found a boolean"
        ),
        (#"textfil = "/a.prom""#, "unknown key 'textfil' in [metrics]; did you mean 'textfile'?"),
    ])
    func anErrorSaysWhatToWrite(_ metrics: String, _ message: String) {
        let printed = errors(in: ReportSettingsTests.shop + "\n[metrics]\n" + metrics)
        #expect(printed.hasPrefix("f:5") && printed.contains(message), "\(printed)")
    }
}

/// `[fleet]`, which `killswitchctl fleet` reads by itself.
@Suite struct FleetSettingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fleet(_ text: String) throws -> FleetSettings {
        try folder.write(text, to: "killswitchd.toml")
        return try FleetSettings(reading: .beside(folder("killswitchd.toml")))
    }

    @Test func itIsReadAlone() throws {
        let text = """
            [fleet]
            prometheus = "http://prometheus.example.com:9090/"
            inventory = "/etc/killswitchd/hosts"
            """
        // A mistake in another table keeps nobody from asking, nor does a machine without any service.
        for more in ["", "\n[limits]\nclose_at_once = \"three\""] {
            let settings = try fleet(text + more)
            #expect(settings.prometheus == "http://prometheus.example.com:9090")
            #expect(settings.inventory == "/etc/killswitchd/hosts")
        }
        let none = try fleet(ReportSettingsTests.shop)
        #expect(none.prometheus == nil && none.inventory == nil)
    }

    @Test(arguments: [
        (
            #"inventory = "hosts""#,
            "bad path 'hosts' for 'inventory' in [fleet]: write the whole path, from '/'"
        ),
        (#"prometheus = "prometheus:9090""#, "it begins with neither 'https://' nor 'http://'"),
        (#"prometheus = "http://a/api/v1/query""#, "leave out '/api/v1/query'; it is added"),
        (#"inventroy = "/a""#, "unknown key 'inventroy' in [fleet]; did you mean 'inventory'?"),
    ])
    func anErrorSaysWhatToWrite(_ line: String, _ message: String) {
        let printed = errors(in: ReportSettingsTests.shop + "\n[fleet]\n" + line)
        #expect(printed.hasPrefix("f:5") && printed.contains(message), "\(printed)")
    }
}
