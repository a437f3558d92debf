import Files
import Glibc
import Support
import Testing

/// SIGHUP makes the daemon read its configuration again.
@Suite(.timeLimit(.minutes(5))) struct ReloadSignalTests {
    private static let both =
        Daemon.shop + """

            [service.web]
            source = "file:web.json"
            format = "service-end"
            """

    private func reload(_ daemon: Daemon, _ configuration: String) throws {
        try daemon.folder.write(configuration, to: "killswitchd.toml")
        daemon.program?.send(SIGHUP)
    }

    @Test func aServiceThatIsAddedIsDecidedAndOneThatIsGoneIsWithdrawn() throws {
        let daemon = try Daemon.running()
        let shop = try daemon.folder.text(of: "run/shop/state.json")
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "web.json")
        try reload(daemon, Self.both)
        try daemon.waitFor("ended", of: "web")
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        try daemon.waitUntil("the source is marked as confirmed") {
            try File.exists(daemon.folder("run/source.web"))
        }
        try reload(daemon, Daemon.shop)
        try daemon.waitUntil("its files are gone") { try !File.exists(daemon.folder("run/web")) }
        try daemon.waitUntil("its mark is gone") {
            try !File.exists(daemon.folder("run/source.web"))
        }
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try daemon.waitFor("ended")
    }

    @Test func aSourceWithANewAddressIsFetchedThere() throws {
        let daemon = try Daemon.running()
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "elsewhere.json")
        try reload(daemon, Daemon.shop.replacing("flags.json", with: "elsewhere.json"))
        try daemon.waitFor("ended")
        // The old file is not followed any more.
        try daemon.folder.write(#"{"service_end": "countdown"}"#, to: "flags.json")
        try daemon.folder.write(#"{"service_end": "no"}"#, to: "elsewhere.json")
        try daemon.waitFor("running")
    }

    @Test func aReloadOfTheSameSettingsChangesNothing() throws {
        let daemon = try Daemon.running()
        let before = try daemon.folder.text(of: "run/shop/state.json")
        try reload(daemon, "# a remark\n" + Daemon.shop)
        try daemon.waitUntil("the log says so") {
            try daemon.log.contains("was read again: 1 service")
        }
        #expect(try daemon.folder.text(of: "run/shop/state.json") == before)
    }

    /// A new source that has not answered yet neither opens nor closes a service.
    @Test func aServiceKeepsItsStateUntilANewSourceHasAnswered() throws {
        let daemon = try Daemon(flags: #"{"service_end": "over"}"#)
        try daemon.start(waitingFor: "ended")
        try reload(daemon, Daemon.shop.replacing("flags.json", with: "elsewhere.json"))
        try daemon.waitUntil("the log says so") {
            try daemon.log.contains("elsewhere.json': no such")
        }
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
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try daemon.waitFor("ended")
        // After a kill the daemon starts with the kept configuration.
        try daemon.stop(SIGKILL)
        try daemon.start()
        try daemon.waitUntil("it says so again") {
            try daemon.log.contains("killswitchd.toml:2:10: ")
        }
        try daemon.waitFor("ended")
        try reload(daemon, Daemon.shop)
        try daemon.waitUntil("status reports no problem") {
            try daemon.control("status").errors == ""
        }
    }

    /// A reload is no start: staged flags stay staged, whatever else the reload changes.
    @Test func stagedFlagsSurviveAReloadAndTakeEffectAtTheNextStart() throws {
        let nextStart = Daemon.shop + "\nactivation = \"next-start\""
        let daemon = try Daemon(nextStart)
        try daemon.start(waitingFor: "running")
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try daemon.waitUntil("the flags are stored") {
            try daemon.folder.text(of: "state/flags/shop.json").contains("over")
        }
        try reload(
            daemon, nextStart.replacing("Asia/Tokyo", with: "Europe/Berlin"))
        try daemon.waitUntil("the log says so") {
            try daemon.log.contains("was read again: 1 service")
        }
        #expect(try daemon.member("state") == "\"running\"")
        try daemon.stop()
        try daemon.start(waitingFor: "ended")
    }

    /// The stored flags count, as after a restart, and not `when_unknown`.
    @Test func aServiceThatIsAddedAgainUsesItsStoredFlags() throws {
        let daemon = try Daemon(Self.both + "\nfirst_timeout = \"0s\"")
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "web.json")
        try daemon.start()
        try daemon.waitFor("ended", of: "web")
        let generation = try daemon.member("generation", of: "web")
        try reload(daemon, Daemon.shop)
        try daemon.waitUntil("its files are gone") { try !File.exists(daemon.folder("run/web")) }
        try File.remove(daemon.folder("web.json"))
        try reload(daemon, Self.both + "\nfirst_timeout = \"0s\"")
        try daemon.waitUntil("it is decided") { try File.exists(daemon.folder("run/web/closed")) }
        #expect(try daemon.member("reason", of: "web") == #""stored-flags""#)
        #expect(try daemon.member("generation", of: "web") == generation)
    }

    /// All files of a removed service go, and its source mark; the files of other services are not written.
    @Test func theFilesOfAServiceThatIsGoneAreAllRemoved() throws {
        let daemon = try Daemon(Self.both)
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "web.json")
        try daemon.start()
        // Each service has a source of its own, and which of them is read first is open.
        try daemon.waitFor("running")
        // What the gate is in fact is written after the marker.
        try daemon.waitUntil("it is closed") {
            try File.exists(daemon.folder("run/web/gate.json"))
        }
        let shop = try daemon.folder.text(of: "run/shop/state.json")
        #expect(
            Set(try Directory.list(daemon.folder("run/web")))
                == [
                    "state.json", "state.env", "closed", "gate.json", "page.html", "problem.json",
                    "retry-after", "unavailable",
                ])
        try reload(daemon, Daemon.shop)
        try daemon.waitUntil("its files are gone") { try !File.exists(daemon.folder("run/web")) }
        try daemon.waitUntil("its mark is gone") {
            try !File.exists(daemon.folder("run/source.web"))
        }
        #expect(try daemon.folder.text(of: "run/shop/state.json") == shop)
        // The stored flags stay, in case the service is configured again.
        #expect(try File.exists(daemon.folder("state/flags/web.json")))
    }
}
