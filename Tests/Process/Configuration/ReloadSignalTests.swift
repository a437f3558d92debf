import Files
import Glibc
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReloadSignalTests {
    private static let both = Daemon.shop + Daemon.service("web", on: "file:web.json")

    private func reload(_ daemon: Daemon, _ configuration: String) throws {
        try daemon.configure(configuration)
        daemon.program?.send(SIGHUP)
    }

    @Test func aServiceThatIsAddedIsDecidedAndOneThatIsGoneIsWithdrawn() throws {
        let daemon = try Daemon.running()
        let shop = try daemon.folder.text(of: "run/shop/state.json")
        try daemon.setFlags("over", in: "web.json")
        try reload(daemon, Self.both)
        try daemon.waitFor("ended", of: "web")
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        try daemon.waitFor(file: "run/source.web")
        try reload(daemon, Daemon.shop)
        try daemon.waitFor(noFile: "run/web")
        try daemon.waitFor(noFile: "run/source.web")
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        try daemon.setFlags("over", waitingFor: "ended")
    }

    @Test func aSourceWithANewAddressIsFetchedThere() throws {
        let daemon = try Daemon.running()
        try daemon.setFlags("over", in: "elsewhere.json")
        try reload(daemon, Daemon.shop.replacing("flags.json", with: "elsewhere.json"))
        try daemon.waitFor("ended")
        // The old file is not followed any more.
        try daemon.setFlags("countdown")
        try daemon.setFlags("no", in: "elsewhere.json", waitingFor: "running")
    }

    @Test func aReloadOfTheSameSettingsChangesNothing() throws {
        let daemon = try Daemon.running()
        let before = try daemon.folder.text(of: "run/shop/state.json")
        try reload(daemon, "# a remark\n" + Daemon.shop)
        try daemon.waitFor(line: "was read again: 1 service")
        #expect(try daemon.folder.text(of: "run/shop/state.json") == before)
    }

    /// A new source that has not answered yet neither opens nor closes a service.
    @Test func aServiceKeepsItsStateUntilANewSourceHasAnswered() throws {
        let daemon = try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
        try reload(daemon, Daemon.shop.replacing("flags.json", with: "elsewhere.json"))
        try daemon.waitFor(line: "elsewhere.json': no such")
        #expect(try daemon.member("state") == "\"ended\"")
        #expect(try File.exists(daemon.folder("run/shop/closed")))
    }

    @Test func aBrokenConfigurationChangesNothingAndIsReportedUntilItIsRepaired() throws {
        let daemon = try Daemon.running()
        let before = try daemon.folder.text(of: "run/shop/state.json")
        try reload(daemon, "[service.shop]\nsource = 1")
        try daemon.waitUntil("status says so") {
            try daemon.control("status").errors.contains("killswitchd.toml:2:10: ")
        }
        #expect(try daemon.folder.text(of: "run/shop/state.json") == before)
        try daemon.setFlags("over", waitingFor: "ended")
        // After a kill the daemon starts with the kept configuration.
        try daemon.stop(SIGKILL)
        try daemon.start()
        try daemon.waitFor(line: "killswitchd.toml:2:10: ")
        try daemon.waitFor("ended")
        try reload(daemon, Daemon.shop)
        try daemon.waitUntil("status reports no problem") {
            try daemon.control("status").errors == ""
        }
    }

    /// A reload is no start: staged flags stay staged, whatever else the reload changes.
    @Test func stagedFlagsSurviveAReloadAndTakeEffectAtTheNextStart() throws {
        let nextStart = Daemon.shop + "\nactivation = \"next-start\""
        let daemon = try Daemon(nextStart).start(waitingFor: "running")
        try daemon.setFlags("over")
        try daemon.waitUntil("the flags are stored") {
            try daemon.folder.text(of: "state/flags/shop.json").contains("over")
        }
        try reload(daemon, nextStart.replacing("Asia/Tokyo", with: "Europe/Berlin"))
        try daemon.waitFor(line: "was read again: 1 service")
        #expect(try daemon.member("state") == "\"running\"")
        try daemon.stop()
        try daemon.start(waitingFor: "ended")
    }

    /// The stored flags count, as after a restart, and not `when_unknown`.
    @Test func aServiceThatIsAddedAgainUsesItsStoredFlags() throws {
        let daemon = try Daemon(Self.both + "\nfirst_timeout = \"0s\"")
        try daemon.setFlags("over", in: "web.json")
        try daemon.start()
        try daemon.waitFor("ended", of: "web")
        let generation = try daemon.member("generation", of: "web")
        try reload(daemon, Daemon.shop)
        try daemon.waitFor(noFile: "run/web")
        try File.remove(daemon.folder("web.json"))
        try reload(daemon, Self.both + "\nfirst_timeout = \"0s\"")
        try daemon.waitFor(file: "run/web/closed")
        #expect(try daemon.member("reason", of: "web") == #""stored-flags""#)
        #expect(try daemon.member("generation", of: "web") == generation)
    }

    /// All files of a removed service go, and its source mark; the files of other services are not written.
    @Test func theFilesOfAServiceThatIsGoneAreAllRemoved() throws {
        let daemon = try Daemon(Self.both)
        try daemon.setFlags("over", in: "web.json")
        try daemon.start()
        // Each service has a source of its own, and which of them is read first is open.
        try daemon.waitFor("running")
        // What the gate is in fact is written after the marker.
        try daemon.waitFor(file: "run/web/gate.json")
        let shop = try daemon.folder.text(of: "run/shop/state.json")
        #expect(
            Set(try Directory.list(daemon.folder("run/web")))
                == [
                    "state.json", "state.env", "closed", "gate.json", "page.html", "problem.json",
                    "retry-after", "unavailable",
                ])
        try reload(daemon, Daemon.shop)
        try daemon.waitFor(noFile: "run/web")
        try daemon.waitFor(noFile: "run/source.web")
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        // The stored flags stay, in case the service is configured again.
        #expect(try File.exists(daemon.folder("state/flags/web.json")))
    }
}

/// A configuration that is valid but cannot be put in force.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
    private static let withNetwork =
        Daemon.shop + Daemon.service("web", on: "http://127.0.0.1:9/flags.json")

    /// Once the control socket reported a refusal, while the service manager and the file
    /// `configuration.refused` reported that the configuration was in force.
    @Test func aConfigurationWhoseSourcesCannotStartIsReportedAsRefusedEverywhere() throws {
        let watched = try WatchedDaemon()
        let daemon = watched.daemon
        // The first source in the network needs libcurl.
        try Directory.create(daemon.folder("lib"))
        try daemon.folder.write("no library", to: "lib/libcurl.so.4")
        try watched.start(["LD_LIBRARY_PATH": daemon.folder("lib")])
        try watched.waitUntilReady()

        try daemon.configure(Self.withNetwork)
        try watched.reload()
        let status = try watched.next()
        #expect(
            status.hasPrefix(
                "READY=1\nSTATUS=configuration refused; the last accepted one stays in force: "))
        #expect(status.contains("libcurl.so.4: "))
        #expect(try daemon.folder.text(of: "run/configuration.refused").contains("libcurl.so.4: "))
        let shown = try daemon.control("status", "--json")
        #expect(shown.output.contains("libcurl.so.4: "))
        #expect(!shown.output.contains("web"))
        #expect(try daemon.control("reload").errors.contains("libcurl.so.4: "))
        #expect(try daemon.folder.text(of: "state/configuration.json").contains("web") == false)

        // A corrected configuration leaves no trace of the refusal.
        try daemon.reload(Daemon.shop)
        #expect(try !File.exists(daemon.folder("run/configuration.refused")))
        #expect(try daemon.control("status").errors == "")
        try watched.waitUntilReady()
    }
}
