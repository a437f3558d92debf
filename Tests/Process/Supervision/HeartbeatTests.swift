import Files
import Glibc
import JSON
import Support
import Testing

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
        #expect(try daemon.control("is-open", "shop").status == 0)
        let status = try daemon.control("status")
        #expect(
            status.errors.contains(
                /killswitchd does not run \(last sign of life \d+s ago\): connect to '/))
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

    @Test func noServiceHasTheNameOfTheFile() throws {
        let daemon = try Daemon(Daemon.shop.replacing("service.shop", with: "service.alive"))
        try daemon.run("--check").expect(
            78, errors: "bad name 'alive' of a service: the daemon has a file of")
    }
}
