import Files
import Glibc
import Support
import Testing

/// Configurations of several files, broken configurations, and the kept configuration.
@Suite(.timeLimit(.minutes(5))) struct ConfigurationTests {
    private func checked(_ daemon: Daemon) throws -> Program.Result {
        let result = try Programs.run(
            "killswitchd", ["--check", "--config", daemon.folder("killswitchd.toml")])
        let short = { (text: String) in text.replacing(daemon.folder.path + "/", with: "") }
        return .init(
            status: result.status, output: short(result.output), errors: short(result.errors))
    }

    @Test func checkNamesEveryFileAndWhereEachSettingIsFrom() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("conf.d"))
        try daemon.folder.write(
            "[service.shop]\ntime_zone = \"UTC\"\nmax_stale = \"1h\"", to: "conf.d/10-zone.toml")
        try daemon.folder.write("nonsense", to: "conf.d/20-old.toml.bak")
        try daemon.folder.link("/dev/null", as: "conf.d/30-off.toml")
        let result = try checked(daemon)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.prefix(4) == [
                "read killswitchd.toml", "read conf.d/10-zone.toml",
                "skipped conf.d/20-old.toml.bak: its name does not end in .toml",
                "masked conf.d/30-off.toml: it is a link to /dev/null",
            ])
        #expect(lines.contains(#"service.shop.time_zone = "UTC"   (conf.d/10-zone.toml:2)"#))
        #expect(lines.contains(#"service.shop.min_closed = "0s"   (killswitchd.toml:4)"#))
        #expect(
            lines.contains { $0.hasPrefix("service.shop.when_stale") && $0.hasSuffix("(default)") })
        #expect(result.errors == "")
    }

    @Test func aMistakeInADropInIsNamedThere() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("conf.d"))
        try daemon.folder.write("[service.shop]\ntime_zon = 1", to: "conf.d/10.toml")
        let result = try checked(daemon).expect(
            78, errors: "conf.d/10.toml:2:1: unknown key 'time_zon'")
        #expect(result.output.hasPrefix("read killswitchd.toml\nread conf.d/10.toml\n"))
    }

    @Test func aSkippedFileIsAWarningAtTheStart() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("conf.d"))
        try daemon.folder.write("", to: "conf.d/10.conf")
        try daemon.start(waitingFor: "running")
        let skipped = "skipped \(daemon.folder("conf.d/10.conf")): its name does not end"
        #expect(try daemon.warnings.map { $0.contains(skipped) } == [true])
    }

    @Test func aBrokenConfigurationAtTheStartLeavesTheKeptOneInForce() throws {
        let watched = try WatchedDaemon.ready()
        let daemon = watched.daemon
        try daemon.stop()
        #expect(try watched.next() == "STOPPING=1\nSTATUS=stopping; gates stay as they are")
        try daemon.configure(Daemon.shop + "\nsorce = 1")
        try watched.start()
        #expect(
            try watched.next().hasPrefix(
                "READY=1\nSTATUS=configuration refused; the last accepted one stays in force: "
                    + "/killswitchd.toml:6:1: unknown key 'sorce'"))
        #expect(
            try daemon.log.contains(
                "error: configuration refused; the last accepted one stays in force:\n"))
        let status = try daemon.control("status")
        #expect(status.output.contains("shop     running"))
        #expect(
            status.errors.contains(
                "configuration refused; the last accepted one stays in force: "))
        #expect(status.errors.contains("killswitchd.toml:6:1: unknown key 'sorce'"))
        #expect(try daemon.control("status", "--json").output.contains("\"refused\": \""))
        try daemon.stop()

        // A corrected configuration leaves no trace of the refusal.
        try daemon.configure(Daemon.shop)
        try watched.start()
        try watched.waitUntilReady()
        #expect(try daemon.control("status").errors == "")
    }

    @Test func withoutItsConfigurationFileTheDaemonUsesTheKeptConfiguration() throws {
        let daemon = try Daemon()
        #expect(try daemon.run("--once").status == 0)
        try File.remove(daemon.folder("killswitchd.toml"))
        try daemon.start()
        try daemon.waitFor(line: "shop: running")
    }

    @Test func aBrokenConfigurationEndsTheDaemonIfNoneWasEverAccepted() throws {
        let daemon = try Daemon("[service.shop]\nsorce = 1")
        try daemon.run().expect(78, errors: "killswitchd.toml:2:1: unknown key 'sorce'")
        #expect(try !File.exists(daemon.folder("state")))
    }
}

/// `--check` looks at the files that the daemon needs, and `--check --probe` fetches from each source.
@Suite(.timeLimit(.minutes(5))) struct NeededFileTests {
    private static let configuration = """
        [source.web]
        type = "http"
        url = "https://127.0.0.1:1/flags"
        ca = "/nowhere/ca.pem"
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        [service.mail]
        source = "web"
        format = "status"
        """

    @Test func checkNamesFilesThatTheDaemonCouldNotRead() throws {
        let daemon = try Daemon(Self.configuration, flags: nil)
        let token = daemon.folder("token")
        try daemon.folder.write("secret", to: "token")
        try daemon.configure(
            Self.configuration.replacing("ca = ", with: "bearer = \"\(token)\"\nca = "))
        let checked = try daemon.run("--check")
        #expect(checked.status == 0)
        for line in [
            "source 'web': open '/nowhere/ca.pem': no such file or directory",
            "source 'web': read credential '\(token)': its mode 644 lets others at it; ",
            "source 'shop': open '\(daemon.folder("flags.json"))': no such file or directory",
        ] {
            #expect(checked.errors.contains("killswitchd: warning: \(line)"), "\(checked.errors)")
        }
        // Nothing to complain of.
        #expect(try Daemon().run("--check").errors == "")
    }

    @Test func aProbeFetchesFromEachSourceOnce() throws {
        let daemon = try Daemon(Self.configuration)
        let probed = try daemon.run("--check", "--probe")
        #expect(probed.status == 75)
        let lines = probed.output.split(separator: "\n").suffix(2)
        #expect(
            Set(lines) == [
                "source 'shop' answers, 1 flags",
                "source 'web' fails: examine '/nowhere/ca.pem': no such file or directory",
            ])
        // The daemon's files are as they were.
        #expect(try !daemon.control("status").output.contains("shop"))
        #expect(try Daemon().run("--check", "--probe").status == 0)
        try daemon.run("--probe").expect(2, errors: "--probe needs --check")
    }
}
