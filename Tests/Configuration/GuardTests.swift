import Configuration
import Decision
import Files
import SourceSettings
import Support
import Testing

/// `[guard.NAME]` and `guard` in a service.
@Suite struct GuardConfigurationTests {
    private static let shop = """
        [service.shop]
        source = "file:/a"
        format = "switch"

        """

    private func warnings(_ text: String) throws(ConfigurationError) -> String {
        try load(text, file: "f").warnings.map(\.description).joined(separator: "\n")
    }

    @Test func aGuardAsksPrometheus() throws {
        let settings = try load(
            Self.shop + """
                guard = "errors"
                [guard.errors]
                prometheus = "https://prometheus.example.com/team/"
                query = "up == 1"
                bearer = "token"
                headers = { X-Scope-OrgID = "shop" }
                """, file: "f")
        let server = try #require(settings.guards["errors"])
        #expect(server.question == .query("up == 1"))
        #expect(server.server.url == "https://prometheus.example.com/team")
        #expect(server.server.limits.timeout == .seconds(5))
        #expect(server.server.headers.map(\.name) == ["X-Scope-OrgID"])
        #expect(server.server.credentials[.bearer]?.text == "token")
        #expect(settings.plan.guards == ["shop": "errors"])
        #expect(settings.warnings.isEmpty)
    }

    @Test func aGuardAsksADocument() throws {
        let settings = try load(
            Self.shop + """
                guard = "gate"
                [guard.gate]
                url = "https://gate.example.com/shop?step=next"
                timeout = "1s"
                """, file: "f")
        let guardian = try #require(settings.guards["gate"])
        #expect(guardian.question == .status)
        #expect(guardian.server.url == "https://gate.example.com/shop?step=next")
        #expect(guardian.server.limits.timeout == .seconds(1))
    }

    @Test(arguments: [
        (
            "", "f:5:1: nothing to ask in [guard.errors]: add 'prometheus' and 'query', or 'url'"
        ),
        (
            #"prometheus = "http://127.0.0.1:9090""#,
            "f:6:1: 'prometheus' in [guard.errors] needs 'query' beside it"
        ),
        (#"query = "up""#, "f:6:1: 'query' in [guard.errors] needs 'prometheus' beside it"),
        (
            "prometheus = \"http://127.0.0.1:9090\"\nquery = \"up\"\nurl = \"http://127.0.0.1/\"",
            "f:8:1: both 'prometheus' and 'url' in [guard.errors]: a guard asks one of the two"
        ),
        (
            "url = \"http://127.0.0.1/\"\nquery = \"up\"",
            "f:6:1: both 'query' and 'url' in [guard.errors]: a guard asks one of the two"
        ),
        (
            "prometheus = \"http://127.0.0.1:9090\"\nquery = \" \"",
            "f:7:9: bad query ' ' for 'query' in [guard.errors]: it is empty"
        ),
        (
            "prometheus = \"http://127.0.0.1:9090/api/v1/query\"\nquery = \"up\"",
            "f:6:14: bad URL 'http://127.0.0.1:9090/api/v1/query' for 'prometheus' in "
                + "[guard.errors]: leave out '/api/v1/query'; it is added"
        ),
        (
            "prometheus = \"127.0.0.1:9090\"\nquery = \"up\"",
            "f:6:14: bad URL '127.0.0.1:9090' for 'prometheus' in [guard.errors]: it begins with "
                + "neither 'https://' nor 'http://'"
        ),
        (
            "url = \"http://127.0.0.1/\"\ntimeout = \"31s\"",
            "f:7:11: bad duration '31s' for 'timeout' in [guard.errors]: expected 100ms to 30s"
        ),
        (
            "url = \"http://gate.example.com/\"\nbearer = \"token\"",
            "f:7:1: 'bearer' in [guard.errors] would be sent in clear: 'url' is not https; write "
                + "'https://', or add 'allow_plain_http = true'"
        ),
        (
            "prometheus = \"http://prometheus\"\nquery = \"up\"\nbearer = \"token\"",
            "f:8:1: 'bearer' in [guard.errors] would be sent in clear: 'prometheus' is not https; "
                + "write 'https://', or add 'allow_plain_http = true'"
        ),
        (
            "url = \"http://127.0.0.1/\"\nqery = \"up\"",
            "f:7:1: unknown key 'qery' in [guard.errors]; did you mean 'query'?"
        ),
    ])
    func aMistakeIsNamedWithItsPlace(_ lines: String, _ expected: String) {
        #expect(
            errors(in: Self.shop + "guard = \"errors\"\n[guard.errors]\n" + lines) == expected)
    }

    @Test(arguments: [
        "x < bool 5", "x<bool 5", "x == BOOL on (job) y", "x >=\n  bool 5", "x > # more\nbool 5",
        "sum(x) / sum(y) != bool 0", #"x{a="b"} <= bool 5"#, #"x{a="\""} < bool 5"#,
    ])
    func boolIsRefused(_ query: String) {
        let text =
            Self.shop + "guard = \"errors\"\n[guard.errors]\nprometheus = \"http://127.0.0.1\"\n"
            + "query = '''\(query)'''"
        #expect(
            errors(in: text).contains(
                "leave out 'bool': a guard passes if its query gives a sample, and with 'bool' it "
                    + "gives one also when it is false"), "\(errors(in: text))")
    }

    @Test(arguments: [
        "x < 5", #"x{bool="1"} < 5"#, "sum by (bool) (x) < 5", #"x{a="< bool 5"} < 5"#,
        "x < 5 # not bool", "x < boolean", "x < `bool`", "x == on (job) bool_total",
    ])
    func boolElsewhereIsNoModifier(_ query: String) throws {
        let text =
            Self.shop + "guard = \"errors\"\n[guard.errors]\nprometheus = \"http://127.0.0.1\"\n"
            + "query = '''\(query)'''"
        #expect(try load(text, file: "f").guards["errors"]?.question == .query(query))
    }

    @Test func anUnknownGuardIsAnError() {
        #expect(
            errors(
                in: Self.shop + """
                    guard = "erors"
                    [guard.errors]
                    url = "http://127.0.0.1/"
                    """)
                == "f:4:9: unknown guard 'erors' for 'guard' in [service.shop]; did you mean 'errors'?"
        )
        #expect(
            errors(in: Self.shop + #"guard = "errors""#)
                == "f:4:9: unknown guard 'errors' for 'guard' in [service.shop]; add a table [guard.errors]"
        )
        #expect(
            errors(in: Self.shop + "[guard.Errors]\nurl = \"http://127.0.0.1/\"")
                == "f:4:8: bad name 'Errors' of a guard: expected 1 to 63 of a-z, 0-9, '_' and '-', the "
                + "first a letter or digit")
    }

    @Test func whatHasNoEffectIsAWarning() throws {
        let errors = "[guard.errors]\nurl = \"http://127.0.0.1/\"\n"
        #expect(try warnings(Self.shop + errors) == "f:4:1: guard 'errors' is used by no service")
        let status = Self.shop.replacing("\"switch\"", with: "\"status\"")
        #expect(
            try warnings(status + "guard = \"errors\"\n" + errors)
                == "f:4:1: 'guard' in [service.shop] has no effect: no switch has the format 'switch', and "
                + "'open_spread' is not set")
        #expect(
            try warnings(status + "guard = \"errors\"\nopen_spread = \"10m\"\n" + errors) == "")
        #expect(
            try warnings(Self.shop + "guard = \"errors\"\nopen_spread = \"30s\"\n" + errors)
                == "f:5:15: 'open_spread' in [service.shop] is 30s: guard 'errors' sees what a host does "
                + "after the next scrape; give it several of them")
    }
}
