import Files
import Glibc
import JSON
import Support
import Testing

/// The exact messages to the service manager, in their order. Ages and waits are shown as a dot.
@Suite(.timeLimit(.minutes(5))) struct NotifyTests {
    private static let ready = "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"

    @Test func theStartSendsReadyAndTheStopStopping() throws {
        let watched = try WatchedDaemon()
        try watched.start()
        #expect(try watched.next() == Self.ready)
        #expect(try watched.daemon.stop() == 0)
        #expect(try watched.next() == "STOPPING=1\nSTATUS=stopping; gates stay as they are")
        #expect(try watched.next(within: 0) == nil)
    }

    @Test func storedFlagsMakeItReadyAtOnce() throws {
        let watched = try WatchedDaemon()
        #expect(try watched.daemon.run("--once").status == 0)
        try watched.start()
        #expect(try watched.next() == Self.ready)
    }

    @Test func aSlowFirstAnswerGetsTheStartMoreTime() throws {
        let watched = try WatchedDaemon(Daemon.shop + "\nfirst_timeout = \"2m\"", flags: nil)
        try watched.start()
        #expect(
            try watched.next()
                == "EXTEND_TIMEOUT_USEC=30000000\n"
                + "STATUS=source 'shop': open '/flags.json': no such file or directory; "
                + "no valid flags are known yet; shop: undecided; shop: no flags yet, next poll in ·"
        )
        try watched.daemon.setFlags("no")
        #expect(try watched.next() == Self.ready)
    }

    @Test func aReloadSendsReloadingAndReady() throws {
        let watched = try WatchedDaemon.ready()
        try watched.daemon.configure(
            Daemon.shop + "\n[service.web]\nsource = \"file:web.json\"\nformat = \"status\"")
        try watched.reload()
        #expect(
            try watched.next()
                == "READY=1\nSTATUS=shop: running; web: undecided; "
                + "shop: flags · old, next poll in ·; web: no flags yet, asking now")
        #expect(
            try watched.next()
                == "STATUS=source 'web': open '/web.json': no such file or directory; "
                + "no valid flags are known yet; shop: running; web: undecided; "
                + "shop: flags · old, next poll in ·; web: no flags yet, next poll in ·")
    }

    @Test func aRefusedReloadIsReportedInTheStatus() throws {
        let watched = try WatchedDaemon.ready()
        try watched.daemon.configure("[service.shop")
        try watched.reload()
        #expect(
            try watched.next().hasPrefix(
                "READY=1\nSTATUS=configuration refused; the last accepted one stays in force: "
                    + "/killswitchd.toml:1:14: syntax error"))
        #expect(try watched.next(within: 200) == nil)
        try watched.daemon.configure(Daemon.shop)
        try watched.reload()
        #expect(try watched.next() == Self.ready)
    }

    /// A full notify socket delays neither the decision nor the loop, and READY is not lost.
    @Test func aBusyServiceManagerIsToldLater() throws {
        let watched = try WatchedDaemon()
        try watched.deafen()
        try watched.start()
        try watched.daemon.waitFor("running")
        var words = try watched.next()
        while words == "noise" { words = try watched.next() }
        #expect(words == Self.ready)
    }

    @Test func watchdogPingsAreSentWhileTheDaemonWorks() throws {
        let watched = try WatchedDaemon()
        try watched.start(["WATCHDOG_USEC": "200000"])
        _ = try watched.next()
        _ = try watched.next()
        for _ in 0..<3 {
            #expect(
                try watched.next()
                    == "STATUS=shop: running; shop: flags · old, next poll in ·\nWATCHDOG=1")
        }
    }

    /// One change of many services is one status, and one short line.
    @Test func aChangeOfManyServicesIsOneStatus() throws {
        let names = (0..<300).map { "s\($0)" }
        let source = "[source.flags]\ntype = \"file\"\npath = \"flags.json\"\n"
        let services = names.map {
            "[service.\($0)]\nsource = \"flags\"\nformat = \"switch\"\nkey = \"\($0)\"\n"
        }
        let flags = { (state: String) in
            "{\(names.map { "\"\($0)\": {\"state\": \"\(state)\"}" }.joined(separator: ", "))}"
        }
        let watched = try WatchedDaemon(source + services.joined(), flags: flags("running"))
        try watched.start()
        let ready = try watched.next()
        #expect(ready.hasPrefix("READY=1\nSTATUS=300 services: 300 running; "))
        #expect(ready.utf8.count < 200)
        try watched.daemon.folder.write(flags("ended"), to: "flags.json")
        #expect(try watched.next().hasPrefix("STATUS=300 services: 300 ended; "))
        #expect(try watched.next(within: 1500) == nil)
    }

    @Test func aWatchdogForAnotherProcessGetsNoPings() throws {
        let watched = try WatchedDaemon()
        try watched.start(["WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"])
        _ = try watched.next()
        #expect(try watched.next(within: 300) == nil)
    }
}

/// The file `alive`, and what readers make of a daemon that gives no sign of life.
@Suite(.timeLimit(.minutes(5))) struct HeartbeatTests {
    /// A daemon that was killed, ten minutes ago by its last sign of life.
    private func dead() throws -> Daemon {
        let daemon = try Daemon.running()
        try daemon.stop(SIGKILL)
        try age(daemon)
        return daemon
    }

    private func age(_ daemon: Daemon) throws {
        try Program.run(
            "/usr/bin/touch", ["--date", "10 minutes ago", daemon.folder("run/alive")]
        ).expect(0)
    }

    @Test func theDaemonGivesASignOfLifeFromTheStartOn() throws {
        let daemon = try Daemon.running()
        #expect(try File.exists(daemon.folder("run/alive")))
        #expect(try daemon.control("is-open", "shop").status == 0)
    }

    /// It used to answer "open" for hours after the daemon had died.
    @Test func fiveMinutesAfterTheLastSignNothingIsOpenAnyMore() throws {
        let daemon = try dead()
        let isOpen = try daemon.control("is-open", "shop")
        #expect(isOpen.status == 3 && isOpen.output == "")
        #expect(
            isOpen.errors
                == "killswitchctl: the state of 'shop' is out of date: no sign of life from killswitchd "
                + "for 10m; see 'systemctl status killswitchd'\n")
        let get = try daemon.control("get", "shop", "state")
        #expect(get.status == 3 && get.output == "running\n")
        try daemon.control("wait", "shop", "--for", "open", "--timeout", "50ms").expect(
            124, errors: "its state file is out of date")
        let run = try Programs.run(
            "killswitchctl",
            [
                "run", "shop", "--timeout", "50ms", "--runtime-directory", daemon.folder("run"),
                "--", "/bin/echo", "ran",
            ])
        #expect(run.status == 124 && run.output == "")
        #expect(try daemon.control("status").output.contains("(out of date)"))
    }

    @Test func aDaemonThatDiedJustNowIsNamedAndItsStatesCount() throws {
        let daemon = try Daemon.running()
        try daemon.stop(SIGKILL)
        try daemon.ageSignOfLife()
        #expect(try daemon.control("is-open", "shop").status == 0)
        let status = try daemon.control("status").expect(3)
        #expect(status.errors.contains("killswitchd does not run (last sign of life 2m ago)"))
        #expect(!status.output.contains("(out of date)"))
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        let problem = try #require(json?["problems"]?.array?.first?.object)
        #expect(problem["kind"] == "no-daemon" && problem["alarm"] == true)
    }

    @Test func aWaitEndsOnceTheDaemonGivesSignsAgain() throws {
        let daemon = try dead()
        let waiting = try Program(
            try Programs.path(of: "killswitchctl"),
            [
                "wait", "shop", "--for", "open", "--timeout", "30s", "--runtime-directory",
                daemon.folder("run"),
            ])
        try daemon.start()
        #expect(try waiting.wait() == 0)
    }

    @Test func watchSaysThatTheStatesAreOutOfDateAndThatTheyCountAgain() throws {
        let daemon = try dead()
        let watching = try Program(
            try Programs.path(of: "killswitchctl"),
            ["watch", "--runtime-directory", daemon.folder("run")])
        try daemon.waitUntil("it is out of date") {
            try watching.output.contains("shop is out of date (it was running)")
        }
        try daemon.start()
        try daemon.waitUntil("it counts again") {
            try watching.output.split(separator: "\n").last?.contains(" shop running: ") == true
        }
    }

    @Test func decidingOnceLeavesNoSign() throws {
        let daemon = try dead()
        #expect(try daemon.run("--once").status == 0)
        #expect(try !File.exists(daemon.folder("run/alive")))
        #expect(try daemon.control("is-open", "shop").status == 0)
    }
}
