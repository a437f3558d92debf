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

    @Test(arguments: [
        [], ["--flags", "x"], ["--format", "switch"],
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

/// `killswitchctl rollout`, and `simulate --slot`, as their users run them.
@Suite(.timeLimit(.minutes(5))) struct RolloutCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            #"""
            {"state": "maintenance", "rollout": [{"at": "2027-03-01T12:00:00Z", "percent": 1},
                {"at": "2027-03-01T13:00:00Z", "percent": 12.5}]}
            """#, to: "order.json")
        try folder.write(#"{"state": "maintenance"}"#, to: "plain.json")
    }

    private func run(_ arguments: String...) throws -> Program.Result {
        try Programs.run("killswitchctl", arguments)
    }

    @Test func eachStepSaysHowManyHostsItCloses() throws {
        let result = try run(
            "rollout", folder("order.json"), "--hosts", "2000", "--time-zone", "Asia/Tokyo")
        #expect(
            result.output == """
                2027-03-01T21:00:00+09:00  1 %  about 20 of 2000 hosts
                2027-03-01T22:00:00+09:00  12.5 %  about 250 of 2000 hosts

                """, "\(result)")
    }

    @Test func itIsJSONForPrograms() throws {
        let result = try run(
            "rollout", folder("order.json"), "--hosts", "10", "--time-zone", "UTC", "--json")
        #expect(
            try JSON.Value.parse(Array(result.output.utf8))
                == JSON.Value.parse(
                    Array(
                        #"""
                        {"hosts": 10, "steps": [
                            {"at": "2027-03-01T12:00:00+00:00", "percent": 1.0, "hosts": 0},
                            {"at": "2027-03-01T13:00:00+00:00", "percent": 12.5, "hosts": 1}]}
                        """#.utf8)), "\(result)")
    }

    @Test func anInventorySaysWhoClosesWhen() throws {
        try folder.write(
            #"""
            {"state": "maintenance", "seed": "march", "rollout": [
                {"at": "2027-03-01T12:00:00Z", "percent": 1},
                {"at": "2027-03-01T13:00:00Z", "percent": 50},
                {"at": "2027-03-01T14:00:00Z", "percent": 90}]}
            """#, to: "steps.json")
        try folder.write(
            """
            web-1
            canary 0%-1%
            till 50%-90%
            spare 95%-100%
            0123456789abcdef0123456789abcdef 10%-20%
            """, to: "hosts.txt")
        let result = try run(
            "rollout", folder("steps.json"), "--inventory", folder("hosts.txt"), "--time-zone",
            "UTC")
        #expect(
            result.output == """
                2027-03-01T12:00:00+00:00  1 %  about 1 of 5 hosts
                2027-03-01T13:00:00+00:00  50 %  about 3 of 5 hosts
                2027-03-01T14:00:00+00:00  90 %  about 4 of 5 hosts

                HOST                              SLOTS     CLOSES
                canary                            0%-1%     2027-03-01T12:00:00+00:00
                web-1                             0%-100%   from 2027-03-01T12:00:00+00:00 on, or never
                0123456789abcdef0123456789abcdef  10%-20%   2027-03-01T13:00:00+00:00
                till                              50%-90%   2027-03-01T14:00:00+00:00
                spare                             95%-100%  never

                """, "\(result)")
        let programs = try run(
            "rollout", folder("steps.json"), "--inventory", folder("hosts.txt"), "--time-zone",
            "UTC", "--json")
        let object = try #require(try JSON.Value.parse(Array(programs.output.utf8)).object)
        let hosts = object["inventory"]?.array?.compactMap(\.object) ?? []
        #expect(hosts.map { $0["name"]?.string }.first == "canary")
        #expect(hosts.last?["first"] == .null && hosts.last?["slots"] == "95%-100%")
        let slot = hosts.compactMap { $0["slot"]?.number?.int64 }
        #expect(slot.count == 1 && (100_000..<200_000).contains(slot[0]))
        try run("rollout", folder("steps.json")).expect(2, errors: "give --hosts or --inventory")
        try run("rollout", folder("steps.json"), "--inventory", "/nowhere").expect(2)
    }

    @Test(arguments: [
        (["plain.json"], "the order has no rollout: it reaches every host at once"),
        (["nowhere.json"], "no such file"),
    ])
    func whatCannotBeShownIsSaid(_ files: [String], _ problem: String) throws {
        try run("rollout", folder(files[0]), "--hosts", "10").expect(1, errors: problem)
    }

    @Test func hostsAreAPositiveNumber() throws {
        try run("rollout", folder("order.json"), "--hosts", "0").expect(2)
    }

    @Test func aSlotHasItsOwnVerdict() throws {
        let arguments = [
            "simulate", "--flags", folder("order.json"), "--format", "switch", "--time-zone", "UTC",
            "--at", "2027-03-01T12:30:00Z", "--slot",
        ]
        let first = try Programs.run("killswitchctl", arguments + ["9999"])
        #expect(first.output.hasPrefix("state   maintenance\ngate    closed\n"), "\(first)")
        let later = try Programs.run("killswitchctl", arguments + ["10000"])
        #expect(
            later.output == """
                state   running
                gate    open
                reason  rollout: source 'flags' closes 1 % of all hosts, but not this one (slot 10000 \
                of 1000000); this host closes at 2027-03-01T13:00:00+00:00

                """, "\(later)")
        #expect(try Programs.run("killswitchctl", arguments + ["1000000"]).status == 2)
    }
}
