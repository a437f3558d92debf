import Files
import Glibc
import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct MetricsWriterTests {
    private static func state(_ state: String, _ value: Int) -> String {
        #"killswitch_service_state{service="shop",state="\#(state)"} \#(value)"#
    }

    private func running(_ more: (TemporaryFolder) -> String = { _ in "" }) throws -> Daemon {
        let daemon = try Daemon()
        try daemon.configure(Daemon.shop + "\n" + more(daemon.folder))
        try daemon.start(waitingFor: "running")
        try daemon.waitFor(sample: Self.state("running", 1))
        return daemon
    }

    @Test func theMetricsFollowADecision() throws {
        let daemon = try running()
        try daemon.setFlags("over")
        try daemon.waitFor(sample: Self.state("ended", 1))
        #expect(try daemon.value(of: Self.state("running", 0).dropLast(2).description) == "0")
        #expect(try daemon.value(of: #"killswitch_gate_wanted_open{service="shop"}"#) == "0")
        let mode = try File.attributes(of: daemon.folder("run/metrics.prom")).mode
        #expect(mode == 0o644)
    }

    @Test func aSourceThatFailsIsToldSoon() throws {
        let daemon = try running()
        try daemon.waitFor(sample: #"killswitch_source_up{source="shop"} 1"#)
        try File.remove(daemon.folder("flags.json"))
        try daemon.waitUntil("the source was asked") {
            try daemon.control("refresh").status == 1
        }
        try daemon.waitFor(sample: #"killswitch_source_up{source="shop"} 0"#)
    }

    @Test func anOrderAndARefusedConfigurationAreTold() throws {
        let daemon = try running()
        try daemon.waitUntilItAnswers()
        try daemon.control("close", "shop", "--for", "1h", "--reason", "x").expect(0)
        try daemon.waitFor(sample: Self.state("maintenance", 1))
        #expect(
            try daemon.metrics()?.contains("killswitch_override_end_timestamp_seconds{") == true)
        try daemon.configure("[service.shop]\nformat = 7\n")
        #expect(try daemon.control("reload").status != 0)
        try daemon.waitFor(sample: "killswitch_configuration_refused 1")
    }

    @Test func aTextfileIsWrittenTooAndAReloadChoosesAnother() throws {
        let daemon = try running { "[metrics]\ntextfile = \"\($0("node.prom"))\"" }
        try daemon.waitFor(sample: Self.state("running", 1), in: "node.prom")
        let other = "\n[metrics]\ntextfile = \"\(daemon.folder("other.prom"))\""
        try daemon.configure(Daemon.shop + other)
        try daemon.waitUntil("it was reloaded") { try daemon.control("reload").status == 0 }
        try daemon.waitFor(sample: Self.state("running", 1), in: "other.prom")
        #expect(try daemon.metrics("other.prom")?.isEmpty == false)
    }

    /// Nobody is told more than once, and everything else goes on.
    @Test(arguments: ["missing/node.prom", "flags.json/node.prom", "folder.prom"])
    func aTextfileThatCannotBeWrittenIsOneWarning(_ name: String) throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("folder.prom/in"))
        let metrics = "\n[metrics]\ntextfile = \"\(daemon.folder(name))\""
        try daemon.configure(Daemon.shop + metrics)
        try daemon.start()
        try daemon.waitFor(sample: Self.state("running", 1))
        try daemon.setFlags("over", waitingFor: "ended")
        try daemon.waitFor(sample: Self.state("ended", 1))
        #expect(try daemon.lines(with: "warning: the metrics are not written: ").count == 1)
        let checked = try daemon.control("status", "--check").expect(1)
        #expect(checked.output.hasPrefix("the metrics are not written: "))
        #expect(try daemon.value(of: #"killswitch_problems{kind="metrics"}"#) == "1")
        try daemon.stop()
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aTextfileOnAFullFileSystemIsOneWarning() throws {
        let daemon = try Daemon()
        let small = daemon.folder("small")
        try Directory.create(small)
        let metrics = "\n[metrics]\ntextfile = \"\(small)/node.prom\""
        try daemon.configure(Daemon.shop + metrics)
        // In a mount namespace that ends with the daemon.
        let script =
            "mount -t tmpfs -o size=16k tmpfs '\(small)'; "
            + "cat /dev/zero > '\(small)/full' 2>/dev/null; exec \"$@\""
        try daemon.start(
            through: [
                "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script,
                "sh",
            ])
        try daemon.waitFor("running")
        try daemon.waitFor(sample: Self.state("running", 1))
        try daemon.setFlags("over")
        try daemon.waitFor(sample: Self.state("ended", 1))
        let warnings = try daemon.lines(with: "warning: the metrics are not written: ")
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("no space left on device") == true)
    }

    @Test func aDirectoryThatIsThereLaterIsUsed() throws {
        let daemon = try running { "[metrics]\ntextfile = \"\($0("later/node.prom"))\"" }
        try daemon.waitUntil("there was a warning") {
            try !daemon.lines(with: "warning: the metrics are not written: ").isEmpty
        }
        try Directory.create(daemon.folder("later"))
        try daemon.setFlags("over")
        try daemon.waitFor(sample: Self.state("ended", 1), in: "later/node.prom")
        try daemon.waitFor(line: "over: the metrics are not written: ")
    }

    /// The file would be there for ever, and nobody would write it again.
    @Test func aRunThatDecidesOnceLeavesNone() throws {
        let daemon = try running()
        try daemon.stop()
        #expect(try daemon.metrics() != nil)
        #expect(try daemon.run("--once").status == 0)
        #expect(try daemon.metrics() == nil)
    }
}

/// The example for Alertmanager, with a real one.
@Suite(.timeLimit(.minutes(5))) struct InhibitionTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let address: String

    init() throws {
        folder = try TemporaryFolder()
        address = "127.0.0.1:\(try freePort())"
        program = try Program(
            "/usr/bin/prometheus-alertmanager",
            [
                "--config.file=\(Programs.project)/packaging/prometheus/alertmanager-example.yml",
                "--storage.path=\(folder.path)", "--web.listen-address=\(address)",
                "--cluster.listen-address=",
            ])
    }

    private func amtool(_ arguments: [String]) throws -> Program.Result {
        try Program.run("/usr/bin/amtool", ["--alertmanager.url=http://\(address)"] + arguments)
    }

    private func add(_ alert: String, _ severity: String) async throws {
        let labels = ["alertname=\(alert)", "severity=\(severity)", "instance=a", "service=shop"]
        try await waitUntil("'\(alert)' is there", orReport: { try program.errors }) {
            try amtool(["alert", "add"] + labels).status == 0
        }
    }

    /// The alerts that Alertmanager would send, by their names.
    private func sent() throws -> Set<Substring> {
        let lines = try amtool(["alert", "query"]).output.split(separator: "\n").dropFirst()
        return Set(lines.compactMap { $0.split(separator: " ").first })
    }

    private func expect(_ expected: Set<Substring>) async throws {
        var found: Set<Substring> = []
        try await waitUntil("\(expected) are sent", orReport: { "\(found)" }) {
            found = try sent()
            return found == expected
        }
    }

    @Test func aWantedClosingPagesNobody() async throws {
        try await add("ShopDown", "page")
        try await expect(["ShopDown"])
        try await add("KillswitchClosed", "none")
        try await expect(["KillswitchClosed"])
    }

    @Test func aClosedServiceThatStillRunsIsOnePage() async throws {
        try await add("KillswitchClosed", "none")
        try await add("KillswitchGateNotAsWanted", "page")
        try await expect(["KillswitchClosed", "KillswitchGateNotAsWanted"])
        try await add("KillswitchUnitDoesNotStop", "page")
        try await expect(["KillswitchClosed", "KillswitchUnitDoesNotStop"])
    }

    @Test func withoutADaemonTheOtherNumbersAreOld() async throws {
        try await add("KillswitchFlagsOld", "page")
        try await add("KillswitchDaemonGone", "page")
        try await expect(["KillswitchDaemonGone"])
    }
}
