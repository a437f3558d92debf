import Glibc
import JSON
import Support
import Testing

/// One problem is told by every surface in the same words.
@Suite(.timeLimit(.minutes(5))) struct ProblemTests {
    /// Expects a sentence in `status`, `status --json`, `explain`, `units` and the status of the unit, and
    /// returns the log.
    private func expect(
        _ sentence: String, from watched: WatchedDaemon,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let daemon = watched.daemon
        for arguments in [["status"], ["explain", "shop"], ["units", "shop"]] {
            let result = try daemon.control(arguments)
            #expect(
                (result.output + result.errors).contains(sentence),
                "\(arguments): \(result.output)\(result.errors)", sourceLocation: sourceLocation)
        }
        let json = try JSON.Value.parse(try daemon.control("status", "--json").output).object
        let problems = (json?["problems"]?.array ?? []).compactMap(\.object)
        let problem = problems.first { $0["text"]?.string?.contains(sentence) == true }
        #expect(problem != nil, "\(problems)", sourceLocation: sourceLocation)
        #expect(problem?["advice"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(problem?["since"]?.string != nil, sourceLocation: sourceLocation)
        var status = try watched.next(within: 60_000)
        while let text = status, !text.contains(sentence) {
            status = try watched.next(within: 60_000)
        }
        #expect(status != nil, "no status says so", sourceLocation: sourceLocation)
    }

    private func running(_ configuration: String = Daemon.shop) throws -> WatchedDaemon {
        let watched = try WatchedDaemon(configuration)
        try watched.start()
        try watched.daemon.waitFor("running")
        try watched.daemon.waitUntilItAnswers()
        return watched
    }

    @Test func aWrongWord() throws {
        let watched = try running()
        try watched.daemon.folder.write(#"{"service_end": 7}"#, to: "flags.json")
        try watched.daemon.control("refresh").expect(1)
        try expect("is invalid: key 'service_end' is a number, not a string", from: watched)
        #expect(try watched.daemon.log.contains("key 'service_end' is a number, not a string"))
    }

    /// One line with performance data, and the statuses of Monitoring Plugins.
    @Test func aMonitoringPluginIsTold() throws {
        let watched = try running()
        let daemon = watched.daemon
        let check = { try daemon.control("status", "--check", "--nagios") }
        let good = try check().expect(0)
        #expect(
            good.output == "KILLSWITCH OK - services: 1, open: 1, closed: 0 | "
                + "services=1;;;0 open=1;;;0 closed=0;;;0 problems=0;0;;0\n")
        // A closing is no problem.
        try daemon.setFlags("over", waitingFor: "ended")
        try check().expect(0, output: "KILLSWITCH OK - services: 1, open: 0, closed: 1 | ")
        try daemon.folder.write(
            #"{"service_end": "countdown", "service_countdown": "soon|or late"}"#, to: "flags.json")
        try daemon.waitFor("countdown")
        let late = try check().expect(1, output: "KILLSWITCH WARNING - ", "problems=1;0;;0")
        #expect(late.output.split(separator: "|").count == 2, "\(late.output)")
        try daemon.control("status", "--check", "--nagios", "other").expect(
            3, output: "KILLSWITCH UNKNOWN - no such service 'other'")
        try daemon.control("status", "--nagios").expect(2, errors: "--nagios needs --check")
        try daemon.stop(SIGKILL)
        try daemon.folder.write("", to: "run/alive")
        try Program.run("/usr/bin/touch", ["--date=-1 hour", daemon.folder("run/alive")]).expect(0)
        try check().expect(2, output: "KILLSWITCH CRITICAL - killswitchd does not run")
        let folder = try TemporaryFolder()
        try Programs.run(
            "killswitchctl",
            ["status", "--check", "--nagios", "--runtime-directory", folder("nowhere")]
        ).expect(2, output: "KILLSWITCH CRITICAL - ")
    }

    @Test func aSourceThatIsDown() throws {
        let watched = try running()
        _ = try Program.run("/bin/rm", [watched.daemon.folder("flags.json")])
        try watched.daemon.control("refresh").expect(1)
        try expect("no such file or directory; the last good flags stay in force", from: watched)
    }

    @Test func aHeldClosing() throws {
        let limits = "\n[limits]\nclose_at_once = 1\n"
        let watched = try running(Daemon.shop + Daemon.service("web") + limits)
        try watched.daemon.setFlags("over")
        try watched.daemon.control("refresh").expect(0)
        try expect("shop: source 'shop' would close more services at once than", from: watched)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func aStateDirectoryThatCannotBeWritten()
        throws
    {
        let watched = try running()
        let state = watched.daemon.folder("state/flags")
        // Root may write everywhere, but not below a file.
        _ = try Program.run("/bin/sh", ["-c", "mv \(state) \(state).old && touch \(state)"])
        try watched.daemon.setFlags("over")
        try watched.daemon.waitFor("ended")
        try expect("store the flags of source 'shop'", from: watched)
    }

    @Test func aRefusedConfiguration() throws {
        let watched = try running()
        try watched.daemon.configure("[service.shop")
        try watched.daemon.control("reload").expect(78)
        try expect("configuration refused; the last accepted one stays in force: ", from: watched)
    }

    /// The refusal of a proxy used to read as one of the server.
    @Test func aProxyIsNamedAsTheProxy() async throws {
        let (server, silent) = (try await FlagServer(), try await FlagServer())
        try await server.behave("403")
        let addresses = [
            "http://flags.example.test/a", "https://flags.example.test/a",
            "https://secure.example.test/a", "https://secure.example.test/a",
        ]
        let proxies = [
            ["http_proxy": "http://127.0.0.1:1"], ["https_proxy": "http://proxy.invalid:3128"],
            ["https_proxy": "http://127.0.0.1:\(server.port)"],
            // It closes the connection, because there is no such host.
            ["https_proxy": "http://127.0.0.1:\(silent.port)"],
        ]
        let expected = [
            "the proxy '127.0.0.1:1' cannot be reached: connection refused",
            "the proxy 'proxy.invalid' does not resolve",
            "the proxy refuses to connect to 'secure.example.test': it answers 403",
            "the proxy closes the connection to 'secure.example.test'",
        ]
        for ((address, proxy), text) in zip(zip(addresses, proxies), expected) {
            let daemon = try Daemon(asking: address).start(proxy)
            try await daemon.awaitLine("': \(text); no valid flags are known yet")
        }
    }

    @Test func aReloadPrintsTheWarningsThatItCauses() throws {
        let watched = try running()
        try watched.daemon.configure(
            Daemon.shop + "\n[source.spare]\ntype = \"file\"\npath = \"spare.json\"\n")
        try watched.daemon.control("reload").expect(0, output: "\nwarning: ", "spare")
    }
}

/// `killswitchctl status --check`, for monitoring.
@Suite(.timeLimit(.minutes(5))) struct HealthCheckTests {
    private func check(_ daemon: Daemon, _ more: String...) throws -> Program.Result {
        try daemon.control(["status", "--check"] + more)
    }

    @Test func whereAllIsWellItPrintsNothing() throws {
        #expect(try check(try Daemon.answering()) == .init(status: 0, output: "", errors: ""))
    }

    @Test func flagsThatAreNoOrderAreALine() throws {
        let daemon = try Daemon.answering()
        try daemon.folder.write(#"{"service_end": 7}"#, to: "flags.json")
        try daemon.control("refresh").expect(1)
        let result = try check(daemon)
        #expect(result.status == 1 && result.errors == "")
        #expect(
            result.output.hasPrefix(
                "shop: the last answer of source 'shop' is invalid: key 'service_end' is a number"
            ))
        let json = try JSON.Value.parse(try check(daemon, "--json").output)
        #expect(json.array?.first?.object?["kind"] == "invalid-answer")
    }

    /// One failed fetch is none: monitoring that fails with each lost packet is switched off.
    @Test func aSourceIsALineOnceItsFlagsAreOlderThanThreeIntervals() throws {
        let daemon = try Daemon.answering(Daemon.followingFile(interval: "1s"))
        _ = try Program.run("/bin/rm", [daemon.folder("flags.json")])
        try daemon.control("refresh").expect(1)
        try daemon.waitUntil("its flags are too old") { try check(daemon).status == 1 }
        let output = try check(daemon).output
        #expect(output.contains("source 'app': open '"))
        #expect(
            output.contains("no such file or directory; the last good flags stay in force (for "))
    }

    @Test func aRefusedConfigurationIsALine() throws {
        let daemon = try Daemon.answering()
        try daemon.configure("[service.shop")
        try daemon.control("reload").expect(78)
        let result = try check(daemon).expect(1)
        #expect(
            result.output.hasPrefix(
                "configuration refused; the last accepted one stays in force: "))
    }

    @Test func aDeadDaemonIsALineAndSoIsOneThatNeverRan() throws {
        let daemon = try Daemon.answering()
        try daemon.stop()
        let dead = try check(daemon).expect(1)
        #expect(dead.output.contains(/^killswitchd does not run \(last sign of life \d+s ago\)\n/))
        #expect(!dead.output.contains("(for "))
        let json = try JSON.Value.parse(try check(daemon, "--json").output)
        #expect(json.array?.first?.object?["since"] == .null)
        let never = try check(try Daemon()).expect(1)
        #expect(never.output.hasPrefix("no daemon has run since this boot"))
    }

    @Test func onlyTheNamedServicesAreChecked() throws {
        let web = Daemon.service("web", on: "file:web.json", #"first_timeout = "1s""#)
        let daemon = try Daemon.running(Daemon.shop + web)
        try daemon.waitUntil("the other has no flags") { try check(daemon).status == 1 }
        try check(daemon, "shop").expect(0)
        try check(daemon, "web").expect(1)
        try check(daemon, "wbe").expect(4)
    }

    @Test func aWrongOptionIsAUsageError() throws {
        try check(try Daemon.answering(), "--nonsense").expect(2)
    }
}
