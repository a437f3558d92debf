import Files
import Glibc
import JSON
import Support
import Testing

/// `killswitchctl explain`.
@Suite(.timeLimit(.minutes(5))) struct ExplainTests {
    private static let running = #"{"service_end": "no", "colour": "red"}"#

    private static let both = """
        [service.shop]
        time_zone = "Asia/Tokyo"
        max_stale = "24h"
        min_closed = "0s"
        [[service.shop.switch]]
        source = "file:flags.json"
        format = "service-end"
        [[service.shop.switch]]
        source = "file:plan.json"
        format = "switch"
        """

    private static let plan = #"""
        {"state": "running", "windows": [{"from": "2099-01-01T00:00:00Z",
            "until": "2099-01-02T00:00:00Z", "title": "\u001b[31mRed"}]}
        """#

    private func explain(_ daemon: Daemon, _ more: String...) throws -> Program.Result {
        try daemon.control(["explain", "shop"] + more)
    }

    @Test func theChainIsShownOnOneScreen() throws {
        let daemon = try Daemon(Self.both, flags: Self.running)
        try daemon.folder.write(Self.plan, to: "plan.json")
        try daemon.start(waitingFor: "running")
        let result = try explain(daemon)
        #expect(result.status == 0 && result.errors == "")
        let lines = result.output.split(separator: "\n")
        let words = lines.map { $0.split(separator: " ").prefix(4).joined(separator: " ") }
            .map { $0.replacing(daemon.folder.path, with: "") }
        #expect(
            words.map { $0.replacing(/since.*/, with: "since") }
                == [
                    "switch 1 service-end, source", "from /flags.json",
                    "flags service_end = \"no\"",
                    "says running, open",
                    "switch 2 switch, source", "from /plan.json", "flags state = \"running\",",
                    "says running, open: decides", "next maintenance in 26",
                    "policy max_stale 24h, when_stale", "source 'shop', file, asked",
                    "source 'shop-2', file, asked", "override none", "verdict running", "since",
                    "why window-ahead: source 'shop-2'", "title \u{FFFD}[31mRed",
                    "close it here: killswitchctl", "everywhere: publish flags that", "gate open",
                    "units none",
                ].map { $0.replacing("next maintenance in 26", with: words[8]) })
        #expect(words[8].hasPrefix("next maintenance in "))
        #expect(lines.count <= 24 && !result.output.contains("\u{1B}"))
    }

    @Test func theChainEndsWithTheUnits() throws {
        let daemon = try Daemon.decided(Self.running)
        try daemon.folder.write(
            """
            [{"name": "web.service", "wanted": true, "active": "failed", "since": null,
              "took_ms": null, "problem": "exit-code"},
             {"name": "job.service", "wanted": null, "active": "inactive", "since": null,
              "took_ms": null, "problem": null}]
            """, to: "run/shop/units.json")
        let result = try explain(daemon)
        #expect(
            result.output.hasSuffix(
                """
                gate      open
                units     web.service: failed, wanted up: exit-code
                          job.service: inactive

                """))
        let json = try JSON.Value.parse(try explain(daemon, "--json").output).object
        #expect(json?["units"]?.array?.count == 2)
        #expect(json?["units"]?.array?.first?.object?["problem"]?.string == "exit-code")
    }

    /// At three in the morning: until when, and what to type, here and for all hosts.
    @Test func itSaysUntilWhenAndHowToOpen() throws {
        let daemon = try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
        let path = daemon.folder("flags.json")
        // host.json has it, which is written at most once a second.
        let source = "source    'shop', file, asked every 60s; its flags changed "
        var output = ""
        try daemon.waitUntil("the time of the change is there") {
            output = try explain(daemon).expect(0).output
            #expect(!output.contains("it has given no flags"))
            return output.contains(source)
        }
        #expect(
            output.contains(
                """
                until     nobody has said
                open it   here: killswitchctl open shop
                          everywhere: publish flags that open it at \(path)

                """), "\(output)")
        try daemon.control("open", "shop", "-m", "a test", "--until", "released").expect(0)
        output = try explain(daemon).expect(0).output
        #expect(
            output.contains(
                """
                close it  here: killswitchctl release shop, then the flags close it; or killswitchctl close shop
                          everywhere: publish flags that close it at \(path); the order of this host comes before them

                """), "\(output)")
        try daemon.control("close", "shop", "-m", "a test", "--until", "2099-01-01T00:00:00Z")
            .expect(0)
        // The flags close it too, so that no release opens it.
        try explain(daemon).expect(0, output: "open it   here: killswitchctl open shop\n")
        let json = try JSON.Value.parse(try explain(daemon, "--json").expect(0).output).object
        #expect(json?["until"]?.string?.hasPrefix("2099-01-01T") == true)
        #expect(json?["sources"]?.array?.count == 1)
        #expect(json?["switches"]?.array?.first?.object?["addresses"] == .strings([path]))
        try daemon.stop()
        try explain(daemon).expect(
            0, output: "open it   here: killswitchctl open shop --without-daemon\n")
    }

    @Test func aWordIsExplained() throws {
        let folder = try TemporaryFolder()
        let explain = { (words: String...) in
            try Programs.run(
                "killswitchctl", ["explain"] + words + ["--runtime-directory", folder("run")])
        }
        try explain("awaiting-guard").expect(
            0, output: "reason awaiting-guard  A step of a rollout")
        try explain("unit-late").expect(0, output: "finding unit-late  The gate is closed", "to do")
        // A finding and a reason.
        try explain("closing-held").expect(0, output: "reason closing-held", "finding closing-held")
        let json = try JSON.Value.parse(try explain("clock", "--json").expect(0).output).object
        #expect(json?["finding"]?.string != nil && json?["reason"] == .null)
        let daemon = try Daemon.decided(Self.running)
        try daemon.control("explain", "unit_late").expect(4, errors: "did you mean 'unit-late'?")
        try daemon.control("explain", "shpo").expect(4, errors: "did you mean 'shop'?")
    }

    /// A service of that name comes first.
    @Test func aServiceMayBeNamedLikeAWord() throws {
        let daemon = try Daemon(
            Daemon.shop.replacing("service.shop", with: "service.window"), flags: Self.running)
        try daemon.start()
        try daemon.waitFor("running", of: "window")
        try daemon.control("explain", "window").expect(0, output: "verdict ")
    }

    @Test func anInvalidAnswerIsExplainedBesideTheFlagsInForce() throws {
        let daemon = try Daemon.running(flags: Self.running)
        try daemon.folder.write(#"{"service_end": 7}"#, to: "flags.json")
        try daemon.waitUntil("it is refused") {
            try daemon.member("reason") == "\"invalid-answer\""
        }
        let output = try explain(daemon).output
        #expect(output.contains("flags    service_end = \"no\"\n"), "\(output)")
        #expect(output.contains("invalid  the newest answer: key 'service_end' is a number"))
        #expect(output.contains("invalid-answer: the last answer of source 'shop' is invalid"))
    }

    @Test func flagsThatWaitForTheNextStartAreShown() throws {
        let daemon = try Daemon.running(
            Daemon.shop + "\nactivation = \"next-start\"", flags: Self.running)
        try daemon.setFlags("over")
        try daemon.waitUntil("it is stored") {
            try daemon.folder.text(of: "state/flags/shop.json").contains("over")
        }
        let output = try explain(daemon).output
        #expect(output.contains("flags   service_end = \"no\"\n"), "\(output)")
        #expect(output.contains("newer   flags wait for the next start"))
        #expect(output.contains("says    running, open: decides"))
    }

    @Test func explainPrintsJSON() throws {
        let daemon = try Daemon.running(flags: Self.running)
        let result = try explain(daemon, "--json")
        let object = try #require(try JSON.Value.parse(result.output).object)
        let view = try #require(object["switches"]?.array?.first?.object)
        #expect(view["flags"] == ["service_end": "no"])
        #expect(view["decides"] == true && view["format"] == "service-end")
        #expect(object["gap"] == .null && object["current"] == true)
        #expect(object["verdict"]?.object?["state"] == "running")
    }

    /// Files say what everybody may know, and the cause for what is missing.
    @Test func withoutTheDaemonTheVerdictIsShown() throws {
        let daemon = try Daemon.decided(Self.running)
        try explain(daemon).expect(
            0, output: "switches  not shown: killswitchd does not run, and it alone shows them",
            "verdict   running\n")
        let json = try JSON.Value.parse(try explain(daemon, "--json").expect(0).output).object
        #expect(json?["switches"] == .null && json?["gap"]?.string?.isEmpty == false)
    }

    @Test func anOutOfDateStateIsShownAsSuch() throws {
        let daemon = try Daemon.decided(Self.running)
        try daemon.outdate()
        let result = try explain(daemon).expect(3)
        #expect(result.output.contains("verdict   running (out of date)\n"))
        #expect(result.errors.contains("out of date; see 'systemctl status killswitchd'"))
    }

    /// Also in what alerts and other hosts read.
    @Test func aRunbookIsNamed() throws {
        let url = "https://wiki.example.com/shop#closed"
        let daemon = try Daemon(Daemon.shop + "\nrunbook = \"\(url)\"", flags: Self.running)
        try daemon.start(waitingFor: "running")
        let metric = "killswitch_runbook_info{service=\"shop\",url=\"\(url)\"} 1\n"
        try daemon.waitUntil("the metric is there") {
            try daemon.folder.text(of: "run/metrics.prom").contains(metric)
        }
        try daemon.waitUntil("the document has it") {
            let host = try JSON.Value.parse(try daemon.folder.text(of: "run/host.json")).object
            return host?.objects("services").first?["runbook"]?.string == url
        }
        #expect(try explain(daemon).output.contains("\nrunbook   \(url)\n"))
        #expect(try explain(daemon, "--json").expect(0).output.contains("\"runbook\""))
    }

    @Test func anUnknownServiceAndAMissingDaemonHaveTheirOwnStatus() throws {
        let daemon = try Daemon(flags: Self.running)
        try daemon.control("explain", "shop").expect(69)
        #expect(try daemon.run("--once").status == 0)
        try daemon.control("explain", "web").expect(4)
    }
}
