import Glibc
import JSON
import Support
import Testing

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
        let daemon = try Daemon.answering(
            """
            [source.app]
            type = "file"
            path = "flags.json"
            interval = "1s"
            [service.shop]
            source = "app"
            format = "service-end"
            """)
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
        try daemon.stop(SIGKILL)
        let dead = try check(daemon).expect(1)
        // The sign of life is older than the end: nobody knows since when it does not run.
        #expect(
            dead.output.contains(
                /^killswitchd does not run \(last sign of life \d+s ago\): connect/))
        #expect(!dead.output.contains("(for "))
        let json = try JSON.Value.parse(try check(daemon, "--json").output)
        #expect(json.array?.first?.object?["since"] == .null)
        let never = try check(try Daemon()).expect(1)
        #expect(never.output.hasPrefix("no daemon has run since this boot: connect to '"))
    }

    @Test func onlyTheNamedServicesAreChecked() throws {
        let daemon = try Daemon(
            Daemon.shop + """

                [service.web]
                source = "file:web.json"
                format = "service-end"
                first_timeout = "1s"
                """)
        try daemon.start(waitingFor: "running")
        try daemon.waitUntil("the other has no flags") { try check(daemon).status == 1 }
        try check(daemon, "shop").expect(0)
        try check(daemon, "web").expect(1)
        try check(daemon, "wbe").expect(4)
    }

    @Test func aWrongOptionIsAUsageError() throws {
        try check(try Daemon.answering(), "--nonsense").expect(2)
    }
}
