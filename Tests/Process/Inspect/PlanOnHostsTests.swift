import JSON
import Support
import Testing

/// `killswitchctl plan` with the hosts of a rollout, and with a slot.
@Suite(.timeLimit(.minutes(5))) struct PlanOnHostsTests {
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
            "plan", folder("order.json"), "--format", "switch", "--hosts", "2000", "--time-zone",
            "Asia/Tokyo")
        #expect(
            result.output.hasSuffix(
                """

                rollout of 'document':
                2027-03-01T21:00:00+09:00  1 %  about 20 of 2000 hosts
                2027-03-01T22:00:00+09:00  12.5 %  about 250 of 2000 hosts

                """), "\(result)")
    }

    @Test func itIsJSONForPrograms() throws {
        let result = try run(
            "plan", folder("order.json"), "--format", "switch", "--hosts", "10", "--time-zone",
            "UTC", "--json")
        #expect(
            try JSON.Value.parse(result.output).object?["rollouts"]?.array?.first
                == JSON.Value.parse(
                    Array(
                        #"""
                        {"service": "document", "hosts": 10, "steps": [
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
            "plan", folder("steps.json"), "--format", "switch", "--inventory", folder("hosts.txt"),
            "--time-zone",
            "UTC")
        #expect(
            result.output.hasSuffix(
                """

                rollout of 'document':
                2027-03-01T12:00:00+00:00  1 %  about 1 of 5 hosts
                2027-03-01T13:00:00+00:00  50 %  about 3 of 5 hosts
                2027-03-01T14:00:00+00:00  90 %  about 4 of 5 hosts

                HOST                              SLOTS     CLOSES
                canary                            0%-1%     2027-03-01T12:00:00+00:00
                web-1                             0%-100%   from 2027-03-01T12:00:00+00:00 on, or never
                0123456789abcdef0123456789abcdef  10%-20%   2027-03-01T13:00:00+00:00
                till                              50%-90%   2027-03-01T14:00:00+00:00
                spare                             95%-100%  never

                """), "\(result)")
        let programs = try run(
            "plan", folder("steps.json"), "--format", "switch", "--inventory", folder("hosts.txt"),
            "--time-zone",
            "UTC", "--json")
        let object = try #require(
            try JSON.Value.parse(programs.output).object?.objects("rollouts").first)
        let hosts = object["inventory"]?.array?.compactMap(\.object) ?? []
        #expect(hosts.map { $0["name"]?.string }.first == "canary")
        #expect(hosts.last?["first"] == .null && hosts.last?["slots"] == "95%-100%")
        let slot = hosts.compactMap { $0["slot"]?.number?.int64 }
        #expect(slot.count == 1 && (100_000..<200_000).contains(slot[0]))
        let plan = ["plan", folder("steps.json"), "--format", "switch", "--inventory", "/nowhere"]
        try Programs.run("killswitchctl", plan + ["--hosts", "3"]).expect(
            2, errors: "give --hosts or --inventory, not both")
        try Programs.run("killswitchctl", plan).expect(2)
    }

    @Test func whatCannotBeShownIsSaid() throws {
        let plan = { try run("plan", folder($0), "--format", "switch", "--hosts", "10") }
        try plan("plain.json").expect(
            0, errors: "no order has a rollout: it reaches every host at once")
        try plan("nowhere.json").expect(1, errors: "no such file")
    }

    @Test func hostsAreAPositiveNumber() throws {
        try run("plan", folder("order.json"), "--format", "switch", "--hosts", "0").expect(2)
    }

    @Test func aSlotHasItsOwnVerdict() throws {
        let arguments = [
            "plan", folder("order.json"), "--format", "switch", "--time-zone", "UTC",
            "--at", "2027-03-01T12:30:00Z", "--slot",
        ]
        let first = try Programs.run("killswitchctl", arguments + ["9999"])
        #expect(first.output.contains("  maintenance, closed: "), "\(first)")
        let later = try Programs.run("killswitchctl", arguments + ["10000"])
        #expect(
            later.output.contains(
                "  running, open: source 'flags' closes 1 % of all hosts, but not this one (slot 10000 "
                    + "of 1000000); this host closes at 2027-03-01T13:00:00+00:00\n"), "\(later)")
        #expect(try Programs.run("killswitchctl", arguments + ["1000000"]).status == 2)
    }
}
