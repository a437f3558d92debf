import Support
import Testing

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
        try Program.run(
            "/usr/bin/amtool", ["--alertmanager.url=http://\(address)"] + arguments)
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
