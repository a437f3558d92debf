import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReadingCommandTests {
    private static let countdown =
        #"{"service_end": "countdown", "service_countdown": "2099-12-31T00:00:00Z"}"#

    @Test func isOpenAnswersByItsExitStatus() throws {
        let openly = try Daemon.decided().control("is-open", "shop")
        #expect(openly == .init(status: 0, output: "shop: open (running)\n", errors: ""))
        let closed = try Daemon.decided(Daemon.flags("over")).control("is-open", "shop", "--quiet")
        #expect(closed == .init(status: 1, output: "", errors: ""))
    }

    @Test func isOpenPrintsJSON() throws {
        let result = try Daemon.decided().control("is-open", "shop", "--json").expect(0)
        #expect(result.output == #"{"service":"shop","open":true,"state":"running"}"# + "\n")
    }

    @Test func theRuntimeDirectoryOptionMayStandBeforeTheCommand() throws {
        let daemon = try Daemon.decided()
        for option in [
            ["--runtime-directory", daemon.folder("run")],
            ["--runtime-directory=\(daemon.folder("run"))"],
        ] {
            let result = try Programs.run("killswitchctl", option + ["get", "shop", "state"])
            #expect(result == .init(status: 0, output: "running\n", errors: ""))
        }
    }

    @Test func aUnitsRuntimeDirectoryCountsOnlyIfADaemonHasFilesThere() throws {
        let daemon = try Daemon.decided()
        let get = { (directory: String) in
            try Programs.run(
                "killswitchctl", ["get", "shop", "state"],
                environment: ["RUNTIME_DIRECTORY": daemon.folder(directory)])
        }
        #expect(try get("run") == .init(status: 0, output: "running\n", errors: ""))
        try Directory.create(daemon.folder("units-own"))
        #expect(try !get("units-own").errors.contains("units-own"))
    }

    /// It was exit status 1, by which is-open says that the gate is closed. A closed gate stays 1.
    @Test(arguments: [
        ("get shop state", "no", Int32(70)), ("is-open shop", "no", 70),
        ("is-open shop", "over", 1),
    ]) func anOutputThatCannotBeWrittenIsAFailureOfTheCommand(
        _ command: String, _ flags: String, _ status: Int32
    ) throws {
        let daemon = try Daemon.decided(Daemon.flags(flags))
        let program = try Programs.path(of: "killswitchctl")
        let result = try Program.run(
            "/bin/sh",
            [
                "-c",
                "\(program) \(command) --runtime-directory \(daemon.folder("run")) > /dev/full",
            ]
        ).expect(status)
        #expect(result.errors == "killswitchctl: write the output: no space left on device\n")
    }

    /// What is-open cannot look at is not closed.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func isOpenThatMayNotLookIsNeitherOpenNorClosed() throws {
        let daemon = try Daemon.decided()
        // The service has no file, and this user may not see which services have some.
        #expect(unsafe chmod(daemon.folder.path, 0o755) == 0)
        #expect(unsafe chmod(daemon.folder("run"), 0o711) == 0)
        try Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid=1042", "--regid=1042", "--clear-groups",
                try Programs.path(of: "killswitchctl"), "is-open", "web", "--runtime-directory",
                daemon.folder("run"),
            ]
        ).expect(70, errors: "permission denied")
    }

    /// A plain command line is answered without the parser, and one with `=` by it: both say the same.
    @Test func theShortWayAndTheParserAnswerAlike() throws {
        let daemon = try Daemon(
            Daemon.shop
                + Daemon.service("web", on: "file:web.json", "first_timeout = \"10m\""),
            flags: Daemon.flags("no"))
        try daemon.start(waitingFor: "running")
        try daemon.waitFor("undecided", of: "web")
        let directory = daemon.folder("run")
        let compare = { (words: [String], status: Int32) in
            let short = try Programs.run(
                "killswitchctl", ["is-open"] + words + ["--runtime-directory", directory])
            let parsed = try Programs.run(
                "killswitchctl", ["is-open"] + words + ["--runtime-directory=\(directory)"])
            #expect(short == parsed && short.status == status, "\(words): \(short) \(parsed)")
        }
        try compare(["shop"], 0)
        try compare(["shop", "--quiet"], 0)
        try compare(["web", "-q"], 3)
        try compare(["shop", "web"], 3)
        try compare(["shpo"], 4)
        try compare(["shop", "shpo"], 4)
        try daemon.setFlags("over", waitingFor: "ended")
        try compare(["shop"], 1)
        try compare(["web", "shop"], 1)
        try daemon.stop()
        try daemon.outdate()
        try compare(["shop"], 3)
        // What is not plain is the parser's.
        try daemon.control("is-open").expect(2)
        try daemon.control("is-open", "shop", "--nonsense").expect(2)
        try daemon.control("is-open", "--help").expect(0, output: "example: ")
    }

    @Test func anUndecidedServiceIsNeitherOpenNorClosed() throws {
        let daemon = try Daemon(flags: nil).start(waitingFor: "undecided")
        try daemon.control("is-open", "shop").expect(3)
        #expect(
            try daemon.control("is-open", "shop", "--json")
                == .init(
                    status: 3,
                    output: #"{"service":"shop","open":null,"state":"undecided"}"# + "\n",
                    errors: ""))
        #expect(try daemon.control("get", "shop", "gate").output == "\n")
    }

    @Test func anUnknownServiceIsAnErrorThatNamesTheKnownOnes() throws {
        let daemon = try Daemon.decided()
        for command in [
            ["is-open", "shpo"], ["get", "shpo", "state"], ["status", "shpo"],
            ["wait", "shpo", "--for", "open"],
        ] {
            let result = try daemon.control(command).expect(4)
            #expect(
                result.errors == "killswitchctl: no such service 'shpo'; did you mean 'shop'?\n")
        }
    }

    @Test func anOutOfDateStateCountsAsUndecided() throws {
        let daemon = try Daemon.decided()
        try daemon.outdate()
        try daemon.control("is-open", "shop").expect(
            3, errors: "out of date; see 'systemctl status killswitchd'")
        let json = try daemon.control("is-open", "shop", "--json").expect(3)
        #expect(json.output == #"{"service":"shop","open":null,"state":"running"}"# + "\n")
        let get = try daemon.control("get", "shop", "state")
        #expect(get.status == 3 && get.output == "running\n")
        #expect(try daemon.control("status").output.contains("(out of date)"))
        try daemon.control("wait", "shop", "--for", "open", "--timeout", "100ms").expect(
            124, errors: "its state file is out of date")
    }

    @Test func getPrintsOneFieldBare() throws {
        let daemon = try Daemon.decided(Self.countdown)
        #expect(try daemon.control("get", "shop", "state").output == "countdown\n")
        let days = try daemon.control("get", "shop", "days_left").expect(0)
        #expect(try #require(Int(days.output.dropLast())) > 10_000)
        #expect(try daemon.control("get", "shop", "title").output == "\n")
        #expect(try daemon.control("get", "shop", "title", "--json").output == "null\n")
        #expect(try daemon.control("get", "shop", "state", "--json").output == "\"countdown\"\n")
        #expect(try daemon.control("get", "shop", "values").output == "{}\n")
    }

    @Test func getOfAnUnknownFieldNamesTheFields() throws {
        let result = try Daemon.decided().control("get", "shop", "day_left").expect(2)
        #expect(
            result.errors
                == "killswitchctl: no such field 'day_left'; did you mean 'days_left'?\n")
        let other = try Daemon.decided().control("get", "shop", "colour")
        #expect(
            other.errors.hasPrefix("killswitchctl: no such field 'colour'; there are: schema, "))
    }

    @Test func statusIsATableOrJSON() throws {
        let daemon = try Daemon.decided(Daemon.flags("over"))
        let table = try daemon.control("status").expect(3)
        let lines = table.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.split(separator: " ").first == "SERVICE")
        #expect(lines.last?.hasPrefix("shop     ended  closed  -     ") == true)
        #expect(!table.output.contains("\u{1B}"))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output)
        let shop = try #require(json.object?["services"]?.array?.first?.object)
        #expect(shop["state"]?.string == "ended")
        #expect(shop["current"]?.bool == true)
        #expect(shop["age"]?.number?.int64 != nil)
    }

    @Test func withoutADaemonStatusShowsTheFilesAndWarns() throws {
        let daemon = try Daemon.decided(Daemon.flags("over"))
        let table = try daemon.control("status").expect(3)
        let row = /shop     ended  closed  -     \d+s +-      flags/
        #expect(table.output.contains(row), "\(table)")
        #expect(table.errors.contains("killswitchd does not run; see 'systemctl status"))
        #expect(table.errors.hasSuffix("\nShowing what killswitchd published last.\n"))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        #expect(json?["sources"] == [])
        #expect(json?["daemon"]?.object?["problem"]?.string?.contains("does not run") == true)
    }

    @Test func theProblemOfAUnitIsALineBelowTheTable() throws {
        let daemon = try Daemon.decided(Daemon.flags("over"))
        try daemon.folder.write(
            """
            [{"name": "web.service", "wanted": false, "active": "deactivating", "since": null,
              "took_ms": null, "problem": "has not stopped within 90 s", "as_wanted": false},
             {"name": "app.service", "wanted": false, "active": "inactive", "since": null,
              "took_ms": 12, "problem": null, "as_wanted": true}]
            """, to: "run/shop/units.json")
        let status = try daemon.control("status")
        #expect(status.output.contains("  1/2 12ms  "))
        #expect(
            status.output.hasSuffix(
                "\nunit 'web.service' of 'shop': has not stopped within 90 s\n"
                    + "    to do: see 'systemctl status web.service'\n"))
    }

    @Test func statusShowsTheSourcesOfTheRunningDaemon() throws {
        let daemon = try Daemon.running()
        try File.remove(daemon.folder("flags.json"))
        try daemon.waitUntil("it answers") { try daemon.control("refresh").status == 1 }
        let table = try daemon.control("status")
        #expect(table.errors == "")
        #expect(table.output.contains("\nsource 'shop': "))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        let source = try #require(json?["sources"]?.array?.first?.object)
        #expect(source["name"]?.string == "shop" && source["services"] == ["shop"])
        #expect(source["problem"]?.string?.contains("no such file") == true)
        #expect(json?["daemon"]?.object?["problem"] == .null)
    }

    @Test func aFrozenDaemonDoesNotFreezeStatus() throws {
        let daemon = try Daemon.answering()
        daemon.program?.send(SIGSTOP)
        try daemon.control("status").expect(0, output: "shop     running")
    }

    /// It showed the decision. A directory at the temporary name fails the write like a full disk, also for root.
    @Test func aGateWhoseFileCannotBeWrittenIsNotKnownUntilItCan() throws {
        let daemon = try Daemon()
        let obstacle = daemon.folder("run/shop/.gate.json.tmp")
        try Directory.create("\(obstacle)/x")
        try daemon.start(waitingFor: "running")
        try daemon.waitUntilItAnswers()
        try daemon.control("status").expect(0, output: "shop     running  -  ")
        try daemon.control("explain", "shop").expect(0, output: "not known")
        try shell("rm -r \(obstacle)")
        try daemon.waitFor(file: "run/shop/gate.json")
        try daemon.control("status").expect(0, output: "shop     running  open")
    }

    @Test func withoutADaemonStatusFails() throws {
        let daemon = try Daemon()
        try daemon.control("status").expect(69, errors: "is killswitchd running?")
    }

    @Test func waitEndsOnceTheConditionIsMet() throws {
        let daemon = try Daemon()
        let waiting = try daemon.startControl(
            ["wait", "shop", "--for", "ended", "--timeout", "30s"])
        try daemon.start(waitingFor: "running")
        try daemon.setFlags("over")
        #expect(try waiting.wait() == 0)
    }

    @Test(arguments: ["open", "decided", "running"]) func waitKnowsGatesStatesAndDecided(
        _ goal: String
    ) throws {
        let daemon = try Daemon.decided()
        try daemon.control("wait", "shop", "--for", goal).expect(0)
    }

    @Test func waitTimesOutAndPrintsTheState() throws {
        let daemon = try Daemon.decided()
        let result = try daemon.control("wait", "shop", "--for", "closed", "--timeout", "50ms")
        #expect(result.status == 124)
        #expect(result.errors == "killswitchctl: 'shop' is not closed yet: it is running\n")
    }

    @Test func helpNamesADefaultAsItIsTyped() throws {
        let help = try Programs.run("killswitchctl", ["run", "--help"])
        #expect(help.output.contains("default: open)"))
    }
}
