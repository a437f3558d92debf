import Files
import Glibc
import Support
import Testing

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
        let result = try checked(daemon).expect(0)
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
                "error: configuration refused; the last accepted one stays in force: "))
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
        """ + Daemon.service() + Daemon.service("mail", on: "web", format: "status")

    @Test func checkNamesFilesThatTheDaemonCouldNotRead() throws {
        let daemon = try Daemon(Self.configuration, flags: nil)
        let token = daemon.folder("token")
        try daemon.folder.write("secret", to: "token")
        try daemon.configure(
            Self.configuration.replacing("ca = ", with: "bearer = \"\(token)\"\nca = "))
        let checked = try daemon.run("--check").expect(0)
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
        let probed = try daemon.run("--check", "--probe").expect(75)
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

/// What holds a secret is for the daemon alone: its memory, and the queries of addresses.
@Suite(.timeLimit(.minutes(5))) struct SecretTests {
    /// For a process without dumps the kernel gives these files to root.
    @Test func theMemoryOfTheDaemonIsInNoDumpAndForNoOtherProcess() throws {
        let daemon = try Daemon()
        var wrapper: [String] = []
        if geteuid() == 0 {
            let folder = daemon.folder.path
            #expect(try Program.run("/bin/chown", ["-R", "65534", folder]).status == 0)
            wrapper = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        }
        try daemon.start(through: wrapper, waitingFor: "running")
        let process = try #require(daemon.program?.processID)
        let owners = try Program.run(
            "/usr/bin/stat", ["--format=%u", "/proc/\(process)/environ", "/proc/\(process)/mem"])
        #expect(owners.output == "0\n0\n")
        #expect(try daemon.stop() == 0)
    }

    @Test func theQueryOfAnAddressIsInNothingThatOthersCanRead() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(asking: "http://127.0.0.1:\(server.port)/flags?token=SECRET")
        try await daemon.start(awaiting: "running")
        #expect(try server.requests.first?.path == "/flags?token=SECRET")
        for behaviour in ["500", "redirect-host", "cut-short", "wrong-type", "other-coding"] {
            try await server.behave(behaviour)
            try await waitUntil("it meets '\(behaviour)'") {
                try server.requests.contains { $0.behaviour == behaviour }
            }
        }
        for shown in [
            try daemon.control("status", "--json"), try daemon.control("explain", "shop"),
            try daemon.control("history", "shop"),
        ] {
            #expect(!(shown.output + shown.errors).contains("SECRET"))
        }
        let checked = try daemon.run("--check")
        #expect(checked.output.contains("/flags?…"))
        #expect(!(checked.output + checked.errors).contains("SECRET"))

        try daemon.configure(
            "[service.shop]\nsource = \"htps://127.0.0.1/?token=SECRET\"\nformat = \"status\"\n")
        let reloaded = try daemon.control("reload").expect(78, errors: "htps://127.0.0.1/?…")
        #expect(!reloaded.errors.contains("SECRET"))
        #expect(try daemon.folder.text(of: "run/configuration.refused").contains("?…"))
        #expect(try Program.run("/bin/grep", ["-r", "SECRET", daemon.folder("run")]).status == 1)
        #expect(try !daemon.log.contains("SECRET"))
    }

    @Test func aTokenOverPlainHTTPToAnotherHostIsAnErrorWithAWayOut() throws {
        let source = """
            [source.app]
            type = "http"
            url = "http://flags.example/"
            bearer = "token"

            """
        let service = "[service.shop]\nsource = \"app\"\nformat = \"status\"\n"
        let daemon = try Daemon(source + service)
        let refused = try daemon.run("--check").expect(78)
        #expect(
            refused.errors == "killswitchd: error: \(daemon.folder("killswitchd.toml")):4:1: "
                + "'bearer' in [source.app] would be sent in clear: 'url' is not https; write "
                + "'https://', or add 'allow_plain_http = true'\n")
        try daemon.configure("\(source)allow_plain_http = true\n\(service)")
        #expect(try daemon.run("--check").status == 0)
    }
}
