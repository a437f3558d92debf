import Files
import JSON
import Support
import Testing

/// `killswitchctl fleet --reports`, with the receiver of the guide and the reports of a daemon.
@Suite(.timeLimit(.minutes(3))) struct FleetReportTests {
    /// The receiver that the guide prints, on another port and with another folder.
    private func receiver(_ port: Int, _ reports: TemporaryFolder) throws -> Program {
        let guide = try Programs.text(of: "docs/guides/fleet.md")
        let block = try #require(guide.split(separator: "```python\n").dropFirst().first)
        let program = try #require(block.split(separator: "```").first)
            .replacing("/var/lib/fleet", with: reports.path).replacing("8700", with: "\(port)")
        return try Program("/usr/bin/python3", ["-c", String(program)])
    }

    private func post(_ body: String, to port: Int, as host: String = "web-1") throws -> String {
        try Program.run(
            "/usr/bin/curl",
            [
                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header",
                "X-Host: \(host)", "--data-binary", body, "http://127.0.0.1:\(port)/",
            ]
        ).output
    }

    /// A folder can hold more than is read by the deadline: then nothing is known, and nobody has obeyed.
    @Test func aFolderThatTakesTooLongIsNotReadToItsEnd() async throws {
        let reports = try TemporaryFolder()
        let body = try Programs.text(of: "Tests/Examples/0.1/published/report-body.json")
        let rest = String(repeating: #"{"a":[1,2,3]},"#, count: 70_000)
        try reports.write("[\(rest)0]", to: ".huge")
        try shell(
            "cd \(reports.path) && for name in $(seq 3000); do ln -s .huge $name.json; done")
        try reports.write(body, to: "0.json")
        let begin = ContinuousClock.now
        try Programs.run(
            "killswitchctl",
            [
                "fleet", "mail", "--for", "down", "--reports", reports.path, "--at-least", "1",
                "--wait", "--timeout", "2s",
            ]
        ).expect(
            124, output: "it is not known which hosts have obeyed: there was time for ",
            " of 3001 reports in '\(reports.path)'\n")
        #expect(ContinuousClock.now - begin < .seconds(20))
    }

    /// The largest report has less than that, so it is no report.
    @Test func aFileThatIsTooLargeIsNamedAndNotRead() async throws {
        let reports = try TemporaryFolder()
        try reports.write(
            try Programs.text(of: "Tests/Examples/0.1/published/report-body.json"), to: "web-1")
        try shell("truncate --size 1114113 \(reports("web-2.json"))")
        try Programs.run("killswitchctl", ["fleet", "mail", "--reports", reports.path]).expect(
            1, output: "web-2", "web-2.json': larger than 1114112 bytes", "1 unknown")
    }

    @Test func theReceiverOfTheGuideKeepsTheLastReportOfEachHost() async throws {
        let (reports, port) = (try TemporaryFolder(), try freePort())
        let receiver = try receiver(port, reports)
        try await waitUntil("the receiver listens", orReport: { try receiver.errors }) {
            try post("[]", to: port) == "400"
        }
        func fleet(_ more: String...) throws -> Program.Result {
            try Programs.run("killswitchctl", ["fleet", "shop", "--reports", reports.path] + more)
        }
        try fleet("--for", "closed").expect(
            1, output: "it is not known which hosts have obeyed: no host has left a report in '")
        for name in ["../x", "", "a/b", ".web-1", "WEB-1", String(repeating: "a", count: 101)] {
            #expect(try post("{}", to: port, as: name) == "400")
        }
        for body in ["[]", "1", ""] { #expect(try post(body, to: port) == "400") }
        #expect(try Directory.list(reports.path) == [])

        let daemon = try Daemon(
            """
            [report]
            url = "http://127.0.0.1:\(port)/"
            headers = { X-Host = "web-1" }
            spread = "0s"

            """ + Daemon.shop)
        try daemon.start()
        try await waitUntil("it has reported", orReport: { try daemon.log }) {
            try !Directory.list(reports.path).filter { $0.hasSuffix(".json") }.isEmpty
        }
        try fleet("--for", "open").expect(0, output: "1 of 1 host has obeyed\n")
        try daemon.setFlags("over")
        try fleet("--for", "closed", "--wait", "--timeout", "60s").expect(
            0, output: "1 of 1 host has obeyed\n")
        try fleet("--for", "down").expect(
            1, output: "failed  killswitchd was started without --gates there, and moves no gate\n",
            "0 of 1 host has obeyed: 1 failed\n")
        try reports.write("no report", to: "web-2.json")
        try fleet("--for", "closed").expect(
            1, output: "web-2", "it is no JSON", "1 of 2 hosts have obeyed: 1 unknown")
    }
}
