import JSON
import Support
import Testing

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
