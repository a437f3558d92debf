import Files
import JSON
import Support
import Testing

/// `killswitchctl fleet` and Debian's Prometheus: what it says is compared with what the hosts do.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FleetCommandTests {
    /// What the dashboard asks first: who has not obeyed?
    private func firstTable() throws -> String {
        let path = "packaging/prometheus/killswitchd-dashboard.json"
        let panel = try JSON.Value.parse(try Programs.text(of: path)).object?.objects("panels")
            .first
        let query = panel?.objects("targets").first?["expr"]?.string
        return try #require(query).replacing("$instance", with: ".*").replacing(
            "$service", with: ".*")
    }

    private func names(_ numbers: ClosedRange<Int>...) -> Set<String> {
        Set(numbers.joined().map { "web-\($0)" })
    }

    @Test func whatItSaysOfThreeHundredHostsIsTrue() async throws {
        let fleet = try await SimulatedFleet(300, .open)
        let folder = try TemporaryFolder()
        let listed = (1...299).map { "web-\($0)\n" }.joined()
        try folder.write("# the shop\n\(listed)ghost\n", to: "hosts")
        // Until Prometheus has scraped all of them, an inventory alone tells that some are missing.
        try folder.write("\(listed)web-300\n", to: "all")
        try fleet.fleet(
            "--for", "up", "--inventory", folder("all"), "--wait", "--timeout", "60s"
        ).expect(0, output: "300 of 300 hosts have obeyed\n")
        try await waitUntil("they have obeyed without an inventory too") {
            let result = try fleet.fleet()
            return result.status == 0 && result.output == "300 of 300 hosts have obeyed\n"
        }
        // The address and the inventory may be in the configuration.
        try folder.write(
            "[fleet]\nprometheus = '\(fleet.url)'\ninventory = '\(folder("hosts"))'",
            to: "fleet.toml")
        let configured = ["fleet", "shop", "--for", "up", "--config", folder("fleet.toml")]
        try await waitUntil("it is asked by its configuration") {
            try Programs.run("killswitchctl", configured).output.contains(
                "299 of 300 hosts have obeyed: 1 silent, 1 not in the inventory\n")
        }

        try fleet.set(.down, 1...280)
        try fleet.set(.stopping, 285...287)
        try fleet.set(.stuck, 288...290)
        try fleet.set(.draining, 291...291)
        try fleet.set(.cutOff, 292...292)
        try fleet.set(.dead, 293...295)
        fleet.stop(296...300)
        let isDown = names(1...280, 292...292)
        let truth = [
            "late": names(281...287, 291...291), "failed": names(288...290),
            "silent": names(293...299).union(["ghost"]), "not in the inventory": names(300...300),
            "obeyed": isDown,
        ]
        var said: [String: Set<String>] = [:]
        try await waitUntil("it says what is true", orReport: { "\(said)" }) {
            let answers = try fleet.answers("--for", "down", "--inventory", folder("hosts"))
            said = answers.reduce(into: [:]) { $0[$1.value, default: []].insert($1.key) }
            #expect(said["obeyed", default: []].isSubset(of: isDown))
            return said == truth
        }
        // Each question is asked until Prometheus has heard of every host in time: a busy machine is late now and then.
        let counts =
            "281 of 300 hosts have obeyed: 3 failed, 8 late, 8 silent, 1 not in the inventory\n"
        var table = Program.Result(status: 0, output: "", errors: "")
        try await waitUntil("the table counts all of them", orReport: { "\(table)" }) {
            table = try fleet.fleet("--for", "down", "--inventory", folder("hosts"))
            return table.output.contains(counts)
        }
        table.expect(
            1, output: "web-288  failed                unit 'web.service' is up",
            "web-281  late                  it is running by flags version '41'")
        #expect(table.output.split(separator: "\n").count == 22)
        try await waitUntil("93 % have obeyed") {
            try fleet.fleet(
                "--for", "down", "--inventory", folder("hosts"), "--at-least", "93%"
            ).status == 0
        }
        try fleet.fleet("--for", "down", "--flags-version", "41").expect(
            1, output: "0 of 300 hosts have obeyed")

        // The table of the dashboard names nobody whom the command does not. The command names besides who decides
        // otherwise than most hosts, who drains, and whose metrics are gone.
        var (own, shown): (Set<String>, Set<String>) = ([], [])
        try await waitUntil("both name whom they should", orReport: { "\(own) \(shown)" }) {
            own = Set(try fleet.answers().filter { $0.value != "obeyed" }.keys)
            shown = try fleet.instances(try firstTable())
            return shown == names(285...290, 292...295)
                && own == shown.union(names(281...284, 291...291, 296...300))
        }

        try fleet.set(.down, 281...300)
        try fleet.fleet("--for", "down", "--wait", "--timeout", "60s").expect(
            0, output: "300 of 300 hosts have obeyed\n")
    }

    /// The README shows what this prints.
    @Test func threeBrokenHostsOfThreeHundredAreNamedAtTheDeadline() async throws {
        let (fleet, folder) = (try await SimulatedFleet(300, .open), try TemporaryFolder())
        try folder.write((1...300).map { "web-\($0)\n" }.joined(), to: "hosts")
        let hosts = folder("hosts")
        try fleet.fleet(
            "--for", "up", "--inventory", hosts, "--wait", "--timeout", "60s"
        ).expect(0)
        fleet.stop(300...300)
        try fleet.set(.stuck, 200...200)
        try fleet.set(.down, 1...99, 101...199, 201...299)
        // The deadline begins when Prometheus has seen all of it, however long that takes on a busy machine.
        let arguments = ["--for", "down", "--inventory", hosts]
        var answers: [String: Int] = [:]
        try await waitUntil("three hosts have not obeyed", orReport: { "\(answers)" }) {
            answers = try fleet.told(arguments).reduce(into: [:]) {
                $0[$1["answer"]?.string ?? "", default: 0] += 1
            }
            answers["obeyed"] = nil
            return answers == ["late": 1, "failed": 1, "silent": 1]
        }
        func masked(_ text: String) -> String {
            text.replacing(/was \d+ s ago/, with: "was · s ago")
        }
        let pages = try ["README.md", "docs/guides/fleet.md"].map {
            masked(try Programs.text(of: $0))
        }
        var (printed, rounds, isShown) = ("", 0, false)
        // A scrape may be late in the last second.
        while rounds < 5, !isShown {
            let waiting = try fleet.startFleet(
                "--for", "down", "--inventory", hosts, "--wait", "--timeout", "5s")
            #expect(try await waiting.end() == 124)
            printed = try waiting.output
            isShown = pages.allSatisfy { $0.contains(masked("\n\(printed)```")) }
            rounds += 1
        }
        #expect(isShown, "\(printed)")
    }

    /// docs/troubles.md has a row for each way in which a host has not obeyed.
    @Test func thePageOfTroublesHasEachWayNotToObey() async throws {
        let (fleet, folder) = (try await SimulatedFleet(7, .down), try TemporaryFolder())
        try fleet.fleet("--for", "down", "--at-least", "7", "--wait", "--timeout", "60s").expect(0)
        try folder.write((1...6).map { "web-\($0)\n" }.joined() + "ghost\n", to: "hosts")
        for (index, conduct) in [Conduct.open, .stopping, .draining, .stuck, .dead].enumerated() {
            try fleet.set(conduct, index + 1...index + 1)
        }
        fleet.stop(6...6)
        let ways = [
            "web-1": "it has not heard of the order", "web-2": "its units still stop",
            "web-3": "it drains", "web-4": "a unit does not stop", "web-5": "its daemon is dead",
            "web-6": "it is off", "web-7": "it is not in the inventory",
            "ghost": "it was never seen",
        ]
        let arguments = ["--for", "down", "--inventory", folder("hosts")]
        let page = try Programs.text(of: "docs/troubles.md")
        var rows: [String] = []
        try await waitUntil("each host has its row", orReport: { "\(rows)" }) {
            rows = try fleet.told(arguments).map { host in
                let way = host["host"]?.string.flatMap { ways[$0] } ?? ""
                let why = (host["why"]?.string ?? "").replacing(/\d+ s\b/, with: "· s")
                return "| \(way) | `\(host["answer"]?.string ?? "")` | `\(why)` |"
            }
            return rows.count == ways.count && rows.allSatisfy(page.contains)
        }
        try fleet.killPrometheus()
        let why = try #require(try fleet.told(arguments).first?["why"]?.string)
        let away = "| Prometheus is away | `unknown` | `\(why.replacing(fleet.url, with: "URL"))` |"
        #expect(page.contains(away), "\(away)")
    }

    @Test func aPrometheusThatIsKilledHasNobodyObey() async throws {
        let fleet = try await SimulatedFleet(10, .down)
        try fleet.set(.open, 10...10)
        try await waitUntil("nine have obeyed") {
            try fleet.fleet("--for", "down").output.contains("9 of 10 hosts have obeyed: 1 late\n")
        }
        let asked = try fleet.queries()
        let waiting = try fleet.startFleet("--for", "down", "--wait", "--timeout", "20s")
        try await waitUntil("it asks") { try fleet.queries() > asked }
        try fleet.killPrometheus()
        try fleet.set(.down, 10...10)
        try fleet.set(.open, 1...1)
        #expect(try await waiting.end() == 124)
        #expect(
            try waiting.output
                == "it is not known which hosts have obeyed: Prometheus at '\(fleet.url)': cannot connect: connection refused\n"
        )
        #expect(
            try waiting.errors
                == "killswitchctl: not enough hosts have obeyed within 20s\n")
        // It has stored that the first host was down, and begins with that. Flags that changed while it was away have
        // two versions then: only what it has seen go is marked as stale.
        try fleet.startPrometheus()
        try await waitUntil("the hosts are scraped again") {
            let answers = try fleet.answers("--for", "down")
            #expect(answers["web-1"] != "obeyed")
            return answers["web-1"] == "late" && answers["web-10"] == "obeyed"
        }
    }

}

/// What is no answer of Prometheus, and no inventory.
@Suite(.timeLimit(.minutes(3))) struct FleetRefusalTests {
    @Test(arguments: [
        ("page", "it answers with a page of HTML, as a proxy or a login does"),
        ("empty", "its answer is no JSON"), ("truncated", "its answer is no JSON"),
        ("list", "its answer is not that of the API of Prometheus"),
        ("running", "its answer is not that of the API of Prometheus"),
        ("nested", "its answer is no JSON"), ("bomb", "its answer is no JSON"),
        ("500", "it answers with status 500"),
        ("401", "it answers with status 401: it wants a login, and killswitchctl sends none"),
        ("204", "it answers with status 204"),
        ("redirect-port", "it redirects (302), which is not followed; correct the URL"),
        ("redirect-once", "it redirects (302), which is not followed; correct the URL"),
        ("hang-up", "the answer is broken"), ("nonsense", "the answer is broken"),
        ("cut-short", "the answer is broken: it was cut short"),
        ("silence", "no complete answer within "), ("drip", "no complete answer within "),
        ("closed", "cannot connect: connection refused"),
    ]) func anotherAnswerIsNoObedience(_ behaviour: String, _ words: String) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let (url, hosts) = ("http://127.0.0.1:\(server.port)/", server.folder("hosts"))
        try server.folder.write("web-1\n", to: "hosts")
        // Within its own limit a busy machine may give no answer at all.
        let isLate = words.hasPrefix("no complete answer")
        let json = try Programs.run(
            "killswitchctl",
            [
                "fleet", "shop", "--for", "down", "--prometheus", url, "--json", "--inventory",
                hosts, "--at-least", "1",
            ] + (isLate ? ["--wait", "--timeout", "400ms"] : [])
        ).expect(isLate ? 124 : 1)
        let object = try #require(try JSON.Value.parse(json.output).object)
        let problem = "Prometheus at '\(url.dropLast())': \(words)"
        #expect(object["problem"]?.string?.hasPrefix(problem) == true, "\(json.output)")
        #expect(object["enough"] == false && object["obeyed"] == 0)
        #expect(object.objects("hosts").map { $0["answer"] } == ["unknown"])
    }

    @Test func anInventoryIsReadStrictly() throws {
        let folder = try TemporaryFolder()
        func fleet() throws -> Program.Result {
            try Programs.run("killswitchctl", ["fleet", "shop", "--inventory", folder("hosts")])
        }
        try fleet().expect(2, errors: "open '\(folder("hosts"))': no such file or directory")
        try folder.write("web-1\nweb 2\n", to: "hosts")
        try fleet().expect(
            2, errors: "\(folder("hosts")):2: 'web 2' is not the name of a host; write one a line")
        try folder.write("# nobody\n", to: "hosts")
        try fleet().expect(2, errors: "\(folder("hosts")): it names no host")
    }
}
