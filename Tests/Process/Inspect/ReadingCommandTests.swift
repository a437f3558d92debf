import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// The commands that read, on the files of a daemon.
@Suite(.timeLimit(.minutes(5))) struct ReadingCommandTests {
    /// A daemon that has decided and ended: only its files are there.
    private func decided(_ flags: String) throws -> Daemon {
        let daemon = try Daemon(flags: flags)
        #expect(try daemon.run("--once").status == 0)
        return daemon
    }

    private static let open = #"{"service_end": "no"}"#
    private static let closed = #"{"service_end": "over"}"#
    private static let countdown =
        #"{"service_end": "countdown", "service_countdown": "2099-12-31T00:00:00Z"}"#

    @Test func isOpenAnswersByItsExitStatus() throws {
        let openly = try decided(Self.open).control("is-open", "shop")
        #expect(openly == .init(status: 0, output: "shop: open (running)\n", errors: ""))
        let closed = try decided(Self.closed).control("is-open", "shop", "--quiet")
        #expect(closed == .init(status: 1, output: "", errors: ""))
    }

    @Test func isOpenPrintsJSON() throws {
        let result = try decided(Self.open).control("is-open", "shop", "--json")
        #expect(result.status == 0)
        #expect(result.output == #"{"service":"shop","open":true,"state":"running"}"# + "\n")
    }

    @Test func theRuntimeDirectoryOptionMayStandBeforeTheCommand() throws {
        let daemon = try decided(Self.open)
        for option in [
            ["--runtime-directory", daemon.folder("run")],
            ["--runtime-directory=\(daemon.folder("run"))"],
        ] {
            let result = try Program.run(
                try Programs.path(of: "killswitchctl"), option + ["get", "shop", "state"])
            #expect(result == .init(status: 0, output: "running\n", errors: ""))
        }
    }

    @Test func aUnitsRuntimeDirectoryCountsOnlyIfADaemonHasFilesThere() throws {
        let daemon = try decided(Self.open)
        let program = try Programs.path(of: "killswitchctl")
        let get = { (directory: String) in
            try Program.run(
                program, ["get", "shop", "state"],
                environment: ["RUNTIME_DIRECTORY": daemon.folder(directory)])
        }
        #expect(try get("run") == .init(status: 0, output: "running\n", errors: ""))
        try Directory.create(daemon.folder("units-own"))
        #expect(try !get("units-own").errors.contains("units-own"))
    }

    /// It was exit status 1, by which is-open says that the gate is closed. A closed gate stays 1.
    @Test(arguments: [
        ("get shop state", Self.open, Int32(70)), ("is-open shop", Self.open, 70),
        ("is-open shop", Self.closed, 1),
    ]) func anOutputThatCannotBeWrittenIsAFailureOfTheCommand(
        _ command: String, _ flags: String, _ status: Int32
    ) throws {
        let daemon = try decided(flags)
        let program = try Programs.path(of: "killswitchctl")
        let result = try Program.run(
            "/bin/sh",
            [
                "-c",
                "\(program) \(command) --runtime-directory \(daemon.folder("run")) > /dev/full",
            ])
        #expect(result.status == status)
        #expect(result.errors == "killswitchctl: write the output: no space left on device\n")
    }

    /// What is-open cannot look at is not closed.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func isOpenThatMayNotLookIsNeitherOpenNorClosed() throws {
        let daemon = try decided(Self.open)
        // The service has no file, and this user may not see which services have some.
        #expect(unsafe chmod(daemon.folder.path, 0o755) == 0)
        #expect(unsafe chmod(daemon.folder("run"), 0o711) == 0)
        let result = try Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid=1042", "--regid=1042", "--clear-groups",
                try Programs.path(of: "killswitchctl"), "is-open", "web", "--runtime-directory",
                daemon.folder("run"),
            ])
        #expect(result.status == 70 && result.errors.contains("permission denied"), "\(result)")
    }

    @Test func anUndecidedServiceIsNeitherOpenNorClosed() throws {
        let daemon = try Daemon(flags: nil)
        try daemon.start()
        try daemon.waitFor("undecided")
        #expect(try daemon.control("is-open", "shop").status == 3)
        #expect(
            try daemon.control("is-open", "shop", "--json")
                == .init(
                    status: 3,
                    output: #"{"service":"shop","open":null,"state":"undecided"}"# + "\n",
                    errors: ""))
        #expect(try daemon.control("get", "shop", "gate").output == "\n")
    }

    @Test func anUnknownServiceIsAnErrorThatNamesTheKnownOnes() throws {
        let daemon = try decided(Self.open)
        for command in [
            ["is-open", "shpo"], ["get", "shpo", "state"], ["status", "shpo"],
            ["wait", "shpo", "--for", "open"],
        ] {
            let result = try Program.run(
                try Programs.path(of: "killswitchctl"),
                command + ["--runtime-directory", daemon.folder("run")])
            #expect(result.status == 4)
            #expect(
                result.errors == "killswitchctl: no such service 'shpo'; did you mean 'shop'?\n")
        }
    }

    @Test func anOutOfDateStateCountsAsUndecided() throws {
        let daemon = try decided(Self.open)
        let text = try daemon.folder.text(of: "run/shop/state.json")
        let old = text.replacing(
            /"valid_until": "[^"]*"/, with: #""valid_until": "2026-01-01T00:00:00+00:00""#)
        try daemon.folder.write(old, to: "run/shop/state.json")
        let isOpen = try daemon.control("is-open", "shop")
        #expect(isOpen.status == 3)
        #expect(isOpen.errors.contains("out of date; see 'systemctl status killswitchd'"))
        let json = try daemon.control("is-open", "shop", "--json")
        #expect(json.status == 3)
        #expect(json.output == #"{"service":"shop","open":null,"state":"running"}"# + "\n")
        let get = try daemon.control("get", "shop", "state")
        #expect(get.status == 3 && get.output == "running\n")
        #expect(try daemon.control("status").output.contains("(out of date)"))
        let wait = try daemon.control("wait", "shop", "--for", "open", "--timeout", "100ms")
        #expect(wait.status == 124)
        #expect(wait.errors.contains("its state file is out of date"))
    }

    @Test func getPrintsOneFieldBare() throws {
        let daemon = try decided(Self.countdown)
        #expect(try daemon.control("get", "shop", "state").output == "countdown\n")
        let days = try daemon.control("get", "shop", "days_left")
        #expect(days.status == 0)
        #expect(try #require(Int(days.output.dropLast())) > 26_000)
        #expect(try daemon.control("get", "shop", "title").output == "\n")
        #expect(try daemon.control("get", "shop", "title", "--json").output == "null\n")
        #expect(try daemon.control("get", "shop", "state", "--json").output == "\"countdown\"\n")
        #expect(try daemon.control("get", "shop", "values").output == "{}\n")
    }

    @Test func getOfAnUnknownFieldNamesTheFields() throws {
        let result = try decided(Self.open).control("get", "shop", "day_left")
        #expect(result.status == 2)
        #expect(
            result.errors
                == "killswitchctl: no such field 'day_left'; did you mean 'days_left'?\n")
        let other = try decided(Self.open).control("get", "shop", "colour")
        #expect(
            other.errors.hasPrefix("killswitchctl: no such field 'colour'; there are: schema, "))
    }

    @Test func statusIsATableOrJSON() throws {
        let daemon = try decided(Self.closed)
        let table = try daemon.control("status")
        #expect(table.status == 0)
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
        let daemon = try decided(Self.closed)
        let table = try daemon.control("status")
        #expect(table.status == 0)
        #expect(table.output.contains("shop     ended  closed  -     0s   -     -      flags"))
        #expect(table.errors.contains("is killswitchd running?"))
        #expect(table.errors.hasSuffix("\nShowing what killswitchd published last.\n"))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        #expect(json?["services"]?.array?.first?.object?["next_poll"] == .null)
        #expect(json?["sources"] == .null)
        #expect(json?["daemon"]?.object?["problem"]?.string?.contains("connect to ") == true)
    }

    @Test func theProblemOfAUnitIsALineBelowTheTable() throws {
        let daemon = try decided(Self.closed)
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
                    + "    to do: type 'systemctl status web.service'\n"))
    }

    @Test func statusShowsTheSourcesOfTheRunningDaemon() throws {
        let daemon = try Daemon()
        try daemon.start()
        try daemon.waitFor("running")
        try File.remove(daemon.folder("flags.json"))
        try daemon.waitUntil("it answers") { try daemon.control("refresh").status == 1 }
        let table = try daemon.control("status")
        #expect(table.errors == "")
        #expect(table.output.contains("\nsource 'shop': "))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        let shop = json?["services"]?.array?.first?.object
        #expect(shop?["next_poll"]?.number?.int64 != nil)
        let source = try #require(json?["sources"]?.array?.first?.object)
        #expect(source["name"]?.string == "shop" && source["services"] == ["shop"])
        #expect(source["problem"]?.string?.contains("no such file") == true)
        #expect(json?["daemon"]?.object?["problem"] == .null)
    }

    @Test func aFrozenDaemonDoesNotFreezeStatus() throws {
        let daemon = try Daemon()
        try daemon.start()
        try daemon.waitFor("running")
        try daemon.waitUntil("it answers") { try daemon.control("refresh").status == 0 }
        daemon.program?.send(SIGSTOP)
        let table = try daemon.control("status")
        #expect(table.status == 0 && table.output.contains("shop     running"))
        #expect(table.errors.contains("no answer within 2 s: process "))
    }

    @Test func withoutADaemonStatusFails() throws {
        let daemon = try Daemon()
        let result = try daemon.control("status")
        #expect(result.status == 69)
        #expect(result.errors.contains("is killswitchd running?"))
    }

    @Test func waitEndsOnceTheConditionIsMet() throws {
        let daemon = try Daemon()
        let waiting = try Program(
            try Programs.path(of: "killswitchctl"),
            [
                "wait", "shop", "--for", "ended", "--timeout", "30s", "--runtime-directory",
                daemon.folder("run"),
            ])
        try daemon.start()
        try daemon.waitFor("running")
        try daemon.folder.write(Self.closed, to: "flags.json")
        #expect(try waiting.wait() == 0)
    }

    @Test(arguments: ["open", "decided", "running"]) func waitKnowsGatesStatesAndDecided(
        _ goal: String
    ) throws {
        let daemon = try decided(Self.open)
        #expect(try daemon.control("wait", "shop", "--for", goal).status == 0)
    }

    @Test func waitTimesOutAndPrintsTheState() throws {
        let daemon = try decided(Self.open)
        let result = try daemon.control("wait", "shop", "--for", "closed", "--timeout", "50ms")
        #expect(result.status == 124)
        #expect(result.errors == "killswitchctl: 'shop' is not closed yet: it is running\n")
    }

    @Test func helpNamesADefaultAsItIsTyped() throws {
        let help = try Program.run(try Programs.path(of: "killswitchctl"), ["run", "--help"])
        #expect(help.output.contains("default: open)"))
    }

    @Test(arguments: [
        ["nonsense"], ["get", "shop"], ["is-open"], ["wait", "shop"],
        ["wait", "shop", "--for", "sideways"],
        ["wait", "shop", "--for", "open", "--timeout", "soon"],
        ["is-open", "My Shop"],
    ])
    func aWrongCommandLineIsAUsageError(_ arguments: [String]) throws {
        let result = try Program.run(try Programs.path(of: "killswitchctl"), arguments)
        #expect(result.status == 2)
        #expect(result.output == "" && !result.errors.isEmpty)
    }
}
