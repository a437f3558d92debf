import CivilTime
import EventLoop
import Support
import Testing

/// Debian 13 moved the old names of zones, such as US/Pacific and Japan, into the package tzdata-legacy: an upgrade
/// takes a zone from under a running configuration.
@Suite(.timeLimit(.minutes(5))) struct TimeZoneTests {
    private static let pacific = """
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        time_zone = "US/Pacific"
        """ + Daemon.service("mail", #"time_zone = "Asia/Tokyo""#)

    private static let ofTheSystem = """
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        """

    /// Flags with an end after this time, written as a clock that is this far ahead of UTC shows it.
    private static func flags(endsIn wait: Duration, offset: Duration = .zero) -> String {
        let clock = Zone.utc.rfc3339(EventLoop.wallClock + wait + offset).prefix(19)
        return #"{"service_end": "countdown", "service_countdown": "\#(clock)"}"#
    }

    private func check(_ daemon: Daemon, _ zones: MovedZones) throws -> Program.Result {
        try Programs.run(
            "killswitchd", ["--check"] + daemon.options, environment: zones.environment)
    }

    /// Starts it again: the files of the last run are there until it has decided.
    private func restart(_ daemon: Daemon, waitingFor state: String) throws {
        try daemon.start()
        try daemon.waitUntil("the daemon answers") { try daemon.control("status").status == 0 }
        try daemon.waitFor(state)
    }

    @Test func aZoneThatVanishesKeepsItsStoredData() throws {
        let zones = try MovedZones()
        try zones.install("US/Pacific", as: "America/Los_Angeles")
        let daemon = try Daemon(Self.pacific, flags: Self.flags(endsIn: .seconds(86_400 * 9)))
        daemon.environment = zones.environment
        try daemon.start(waitingFor: "countdown")
        let (end, days) = (try daemon.member("ends_at"), try daemon.member("days_left"))
        #expect(try !daemon.control("status").output.contains("cannot be read"))
        try daemon.stop()

        zones.remove("US/Pacific")
        try restart(daemon, waitingFor: "countdown")
        #expect(try daemon.member("ends_at") == end && daemon.member("days_left") == days)
        try daemon.waitUntil("the zone is named") {
            try daemon.control("status").output.contains("cannot be read")
        }
        let status = try daemon.control("status").expect(
            0, output: "shop: the time zone 'US/Pacific' cannot be read",
            "install the package 'tzdata-legacy'")
        #expect(!status.output.contains("mail: ") && status.errors == "")
        try daemon.control("reload").expect(0)
        try check(daemon, zones).expect(
            0, errors: "warning", "its stored data counts; install the package 'tzdata-legacy'")
        // It survives a second start, and a configuration that is refused for another mistake.
        try daemon.stop()
        try daemon.configure(Self.pacific + "\nsorce = 1")
        try restart(daemon, waitingFor: "countdown")
        #expect(try daemon.member("ends_at") == end)
        try daemon.stop()

        try zones.install("US/Pacific", as: "America/Los_Angeles")
        try daemon.configure(Self.pacific)
        try restart(daemon, waitingFor: "countdown")
        #expect(try !daemon.control("status").output.contains("cannot be read"))
    }

    /// A daemon of an older version has stored no zones: the end is held, and the file still tells no zone of the past.
    @Test func aKeptConfigurationIsNotRefusedForAZoneOfWhichNothingIsKnown() throws {
        let zones = try MovedZones()
        try zones.install("US/Pacific", as: "America/Los_Angeles")
        let daemon = try Daemon(
            Self.pacific, flags: Self.flags(endsIn: .seconds(-60), offset: .seconds(-8 * 3600)))
        daemon.environment = zones.environment
        try daemon.start(waitingFor: "ended")
        try daemon.stop()
        zones.remove("US/Pacific")
        let kept = try daemon.folder.text(of: "state/configuration.json")
        try daemon.folder.write(
            kept.replacing("\"tzif\"", with: "\"lost\""), to: "state/configuration.json")
        try restart(daemon, waitingFor: "ended")
        try daemon.waitUntil("the zone is unknown") {
            try daemon.member("reason") == "\"zone-unknown\""
        }
        #expect(try daemon.member("state") == "\"ended\"")
        // The file of the host comes after those of services.
        try daemon.waitUntil("status names the package") {
            try daemon.control("status").output.contains("install the package 'tzdata-legacy'")
        }
        try daemon.control("status").expect(0, output: "ends without an offset from UTC are held")
    }

    @Test func aNewConfigurationWithAZoneThatIsNotInstalledNamesThePackage() throws {
        let zones = try MovedZones()
        let daemon = try Daemon(Self.pacific)
        let refused = try check(daemon, zones).expect(
            78, errors: "unknown time zone 'US/Pacific'", "install the package 'tzdata-legacy'")
        #expect(!refused.errors.contains("did you mean"))
        try daemon.configure(Self.pacific.replacing("US/Pacific", with: "Asia/Tokio"))
        try check(daemon, zones).expect(78, errors: "did you mean 'Asia/Tokyo'?")
        zones.remove("")
        try check(daemon, zones).expect(78, errors: "install the package 'tzdata'")
    }

    @Test(arguments: ["empty", "dangling"])
    func aSystemZoneThatCannotBeReadHoldsTheEndsThatNeedIt(_ what: String) throws {
        let zones = try MovedZones()
        if what == "empty" { try zones.setLocal(to: "") } else { try zones.setLocal(zone: "Japan") }
        // In UTC the end has come an hour ago; in Japan it came ten hours ago, in America it is ahead.
        let daemon = try Daemon(
            Self.ofTheSystem + Daemon.service("mail", #"time_zone = "Asia/Tokyo""#),
            flags: Self.flags(endsIn: .seconds(-3600)))
        daemon.environment = zones.environment
        try check(daemon, zones).expect(
            0,
            errors: "no 'time_zone' in [service.shop]: the time zone of the system cannot be read",
            what == "empty" ? "timedatectl set-timezone" : "install the package 'tzdata-legacy'")
        try daemon.start(waitingFor: "countdown")
        #expect(try daemon.member("reason") == "\"zone-unknown\"")
        #expect(try daemon.member("days_left") == "null" && daemon.member("ends_at") == "null")
        try daemon.waitFor("ended", of: "mail")
        let status = try daemon.control("status").expect(
            0, output: "shop: the time zone of the system cannot be read")
        #expect(!status.output.contains("mail: "))
    }

    /// A link that leads nowhere counted as UTC without a word, and moved an end by nine hours.
    @Test func aSystemZoneThatVanishesKeepsItsStoredData() throws {
        let zones = try MovedZones()
        try zones.install("Japan", as: "Asia/Tokyo")
        try zones.setLocal(zone: "Japan")
        let daemon = try Daemon(Self.ofTheSystem, flags: Self.flags(endsIn: .seconds(86_400 * 9)))
        daemon.environment = zones.environment
        try daemon.start(waitingFor: "countdown")
        let end = try daemon.member("ends_at")
        #expect(end?.hasSuffix("+09:00\"") == true)
        try daemon.stop()
        zones.remove("Japan")
        try restart(daemon, waitingFor: "countdown")
        #expect(try daemon.member("ends_at") == end)
        try daemon.waitUntil("the zone is named") {
            try daemon.control("status").output.contains("its stored data counts")
        }
        try daemon.control("status").expect(0, output: "'tzdata-legacy'")
    }
}
