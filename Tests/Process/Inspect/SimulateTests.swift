import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct SimulateTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.planned, to: "plan.json")
        try folder.write(#"{"service_end": "no", "limit": "12"}"#, to: "app.json")
        try folder.write(Self.configuration, to: "killswitchd.toml")
    }

    private static let planned = #"""
        {"state": "running", "windows": [{"from": "2027-03-03T10:00:00Z",
            "until": "2027-03-03T11:00:00Z", "title": "Works"}]}
        """#

    private static let configuration = """
        [source.app]
        type = "file"
        path = "nowhere.json"
        [source.plan]
        type = "file"
        path = "nowhere-else.json"
        [service.shop]
        time_zone = "Asia/Tokyo"
        max_stale = "24h"
        when_stale = "closed"
        [service.shop.values]
        limit = { key = "limit", type = "integer" }
        [[service.shop.switch]]
        source = "app"
        format = "service-end"
        [[service.shop.switch]]
        source = "plan"
        format = "switch"
        """

    private func simulate(_ arguments: String...) throws -> Program.Result {
        try Programs.run("killswitchctl", ["simulate"] + arguments)
    }

    @Test func simulateReadsStandardInput() throws {
        let result = try Program.run(
            "/bin/sh",
            [
                "-c", "\"$0\" simulate --flags - --format switch < \"$1\"",
                try Programs.path(of: "killswitchctl"), folder("plan.json"),
            ])
        #expect(result.status == 0 && result.output.hasPrefix("state      running\n"), "\(result)")
        try simulate("--flags", "-", "--format", "switch").expect(
            1, errors: "the flags in standard input are invalid")
    }

    @Test func simulatePrintsTheVerdictAtATime() throws {
        let result = try simulate(
            "--flags", folder("plan.json"), "--format", "switch", "--at", "2027-03-01T12:00:00Z",
            "--time-zone", "Asia/Tokyo")
        #expect(
            result.output == """
                state      running
                gate       open
                reason     window-ahead: source 'flags' plans maintenance from \
                2027-03-03T19:00:00+09:00 until 2027-03-03T20:00:00+09:00
                days_left  2
                title      Works

                """)
        #expect(result.status == 0 && result.errors == "")
    }

    @Test func simulatePrintsEachChangeOfAConfiguredService() throws {
        let result = try simulate(
            "--config", folder("killswitchd.toml"), "--service", "shop",
            "--flags", "app=\(folder("app.json"))", "--flags", "plan=\(folder("plan.json"))",
            "--at", "2027-03-01T12:00:00Z", "--until", "2028-03-01T12:00:00Z")
        #expect(
            result.output == """
                2027-03-01T21:00:00+09:00 running, open: source 'plan' plans maintenance from \
                2027-03-03T19:00:00+09:00 until 2027-03-03T20:00:00+09:00; 'Works'
                2027-03-03T19:00:00+09:00 maintenance, closed: maintenance planned by source 'plan' \
                lasts until 2027-03-03T20:00:00+09:00; 'Works'
                2027-03-03T20:00:00+09:00 running, open: set by the flags of source 'app'

                """)
        #expect(result.status == 0 && result.errors == "")
    }

    @Test func silentSourcesMakeFlagsOld() throws {
        let result = try simulate(
            "--config", folder("killswitchd.toml"), "--service", "shop", "--silent",
            "--flags", "app=\(folder("app.json"))", "--at", "2027-03-01T12:00:00Z",
            "--until", "2028-03-01T12:00:00Z", "--json")
        #expect(result.errors.contains("source 'plan' has no flags: as if it never answered"))
        let changes = try #require(try JSON.Value.parse(result.output).object?["changes"]?.array)
        #expect(changes.map { $0.object?["reason"] } == ["unknown-open", "stale-closed"])
        #expect(changes.last?.object?["time"] == "2027-03-02T21:00:00+09:00")
        #expect(changes.first?.object?["values"] == ["limit": 12])
    }

    @Test(arguments: [
        (nil, "bad.json': no such file"),
        ("{}", "key 'state' is missing"), ("", "the answer is empty"),
        ("<html>", "the answer is a web page, not JSON"),
        (#"{"state": "running",}"#, "not valid JSON"),
        (
            #"{"state": "over"}"#,
            "key 'state' is 'over', not a state; the states are running, countdown, maintenance, update-required and ended"
        ),
    ])
    func flagsThatAreNoOrderAreAFailure(_ flags: String?, _ problem: String) throws {
        if let flags { try folder.write(flags, to: "bad.json") }
        let result = try simulate("--flags", folder("bad.json"), "--format", "switch")
        #expect(result.status == 1 && (flags != nil || result.output == ""))
        #expect(result.errors.contains(problem), "\(result.errors)")
    }

    @Test func anUnknownServiceIsAnErrorThatNamesTheConfiguredOnes() throws {
        let result = try simulate(
            "--config", folder("killswitchd.toml"), "--service", "web", "--flags", "x.json")
        #expect(result.status == 4)
        #expect(result.errors == "killswitchctl: no such service 'web'; known: shop\n")
    }

    @Test func aWrongConfigurationIsReportedWithFileAndLine() throws {
        try folder.write("[service.shop]\nsource = 1", to: "killswitchd.toml")
        let result = try simulate(
            "--config", folder("killswitchd.toml"), "--service", "shop", "--flags", "x.json")
        #expect(result.status == 78)
        #expect(result.errors.contains("killswitchd.toml:2:10: "))
    }

    @Test func aBooleanAndAWordAreSimulated() throws {
        try folder.write("on\n", to: "word")
        try simulate("--flags", folder("word"), "--format", "boolean", "--closed-when", "true")
            .expect(0, output: "state   maintenance\n")
        try simulate(
            "--flags", folder("word"), "--format", "boolean", "--closed-when", "false"
        ).expect(0, output: "state   running\n")
        try folder.write("ended\n", to: "word")
        try simulate("--flags", folder("word"), "--format", "switch").expect(
            0, output: "state   ended\n")
        try simulate("--flags", folder("word"), "--format", "status").expect(
            1, errors: "the answer is not valid JSON")
    }

    /// Each unknown member is named with its place, and once; `--strict` fails for it.
    @Test func unknownMembersAreNamed() throws {
        try folder.write(
            #"{"state": "running", "end_at": "2030-01-01T00:00:00Z", "$id": 1, "x-by": "me", "limit": 1, "windows": [{"from": "2027-03-03T10:00:00Z", "until": "2027-03-03T11:00:00Z", "titel": "T"}]}"#,
            to: "slip.json")
        let simulated = ["simulate", "--flags", folder("slip.json"), "--format", "switch"]
        let loose = try Programs.run("killswitchctl", simulated).expect(0)
        #expect(
            loose.errors == """
                killswitchctl: source 'flags': key 'end_at' is unknown and ignored; did you mean 'ends_at'?
                killswitchctl: key 'limit' is unknown and ignored
                killswitchctl: key 'windows[0].titel' is unknown and ignored

                """, "\(loose.errors)")
        let strict = try Programs.run("killswitchctl", simulated + ["--strict", "--json"]).expect(1)
        #expect(strict.output.contains("windows[0].titel"))
        try folder.write(#"{"state": "running", "$id": 1, "x-by": "me"}"#, to: "slip.json")
        let clean = try Programs.run("killswitchctl", simulated + ["--strict"]).expect(0)
        #expect(clean.errors == "")
    }

    /// What another service of the configuration reads is known, although it looks like a slip.
    @Test func whatTheConfigurationReadsIsKnown() throws {
        try folder.write(
            #"{"service_end": "no", "limit": "12", "title": 1, "service_ends": "1", "more": 1}"#,
            to: "app.json")
        let simulated = [
            "simulate", "--config", folder("killswitchd.toml"), "--service", "shop", "--strict",
            "--flags", "app=\(folder("app.json"))",
        ]
        let before = try Programs.run("killswitchctl", simulated).expect(1)
        for key in ["title", "service_ends", "more"] {
            #expect(
                before.errors.contains("source 'app': key '\(key)' is unknown"), "\(before.errors)")
        }
        #expect(!before.errors.contains("'limit'"))
        try folder.write(
            Self.configuration + """

                [service.mail]
                source = "app"
                format = "boolean"
                key = "service_ends"
                closed_when = true
                variant = { key = "title", map = { "1" = "a" }, default = "b" }
                [service.mail.values]
                more = { key = "more", type = "integer" }
                """, to: "killswitchd.toml")
        let after = try Programs.run("killswitchctl", simulated).expect(0)
        #expect(!after.errors.contains("unknown"), "\(after.errors)")
    }

    @Test(arguments: [
        [], ["--flags", "x"], ["--format", "switch"],
        ["--flags", "x", "--format", "boolean"],
        ["--flags", "x", "--format", "boolean", "--closed-when", "yes"],
        ["--flags", "x", "--format", "switch", "--closed-when", "true"],
        ["--flags", "x", "--format", "status", "--closed-state", "ended"],
        ["--flags", "x", "--format", "switch", "--service", "shop"],
        ["--flags", "x", "--format", "switch", "--silent"],
        ["--flags", "x", "--service", "shop", "--key", "k"],
        ["--flags", "x", "--format", "toggle"],
        ["--flags", "x", "--format", "switch", "--at", "tomorrow"],
        ["--flags", "x", "--format", "switch", "--countdown-key", "k"],
        ["--flags", "x", "--format", "switch", "--time-zone", "Mars/Base"],
        [
            "--flags", "x", "--format", "switch", "--at", "2027-03-01T12:00:00Z",
            "--until", "2027-03-01T11:00:00Z",
        ],
    ])
    func aWrongCommandLineIsAUsageError(_ arguments: [String]) throws {
        let result = try Programs.run("killswitchctl", ["simulate"] + arguments).expect(2)
        #expect(result.output == "" && !result.errors.isEmpty)
    }
}
