import Files
import JSON
import Support
import Testing

/// Reports of the host's state to a real server.
@Suite(.timeLimit(.minutes(2))) struct ReportTests {
    /// A daemon on its flags file that reports to this server.
    private func daemon(
        to server: FlagServer, isSecure: Bool = false, _ more: String = ""
    ) throws -> Daemon {
        let address =
            isSecure ? "https://localhost:\(server.port)" : "http://127.0.0.1:\(server.port)"
        return try Daemon(
            Daemon.shop + "\n[report]\nurl = \"\(address)/hosts\"\n" + more)
    }

    /// The reports that the server has got, as objects.
    private func reports(of server: FlagServer) throws -> [JSON.Object] {
        try server.requests.filter { $0.method == "POST" }.map { request in
            try #require(try JSON.Value.parse(request.body).object)
        }
    }

    /// The member of the first service of a report.
    private func member(_ name: String, of report: JSON.Object?) -> JSON.Value? {
        report?["services"]?.array?.first?.object?[name]
    }

    private func awaitReport(_ server: FlagServer, _ state: String, _ daemon: Daemon) async throws {
        try await waitUntil("'\(state)' is reported", orTell: { try daemon.log }) {
            try member("state", of: reports(of: server).last)?.string == state
        }
    }

    @Test func aChangeIsReportedAndTheDocumentFitsItsSchema() async throws {
        let server = try await FlagServer()
        let daemon = try daemon(to: server)
        try daemon.start()
        try await awaitReport(server, "running", daemon)
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try await awaitReport(server, "ended", daemon)
        let last = try #require(try server.requests.last)
        #expect(last.path == "/hosts")
        #expect(last.headers["content-type"] == "application/json")
        let found = try reports(of: server)
        #expect(member("status", of: found.last)?.string == "applied")
        #expect(member("gate", of: found.last)?.string == "closed")
        let numbers = found.compactMap { $0["generation"]?.number?.int64 }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        try daemon.folder.write(last.body, to: "report.json")
        let checked = try Program.run(
            "/usr/bin/python3",
            [
                "-c",
                "import json,sys,jsonschema;"
                    + "jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))",
                daemon.folder("report.json"), "\(Programs.project)/docs/report.schema.json",
            ])
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test func theNumbersGrowOverARestart() async throws {
        let server = try await FlagServer()
        let daemon = try daemon(to: server)
        try daemon.start()
        try await awaitReport(server, "running", daemon)
        let before = try #require(try reports(of: server).last?["generation"]?.number?.int64)
        try daemon.stop()
        let count = try reports(of: server).count
        try daemon.start()
        try await waitUntil("it reports again", orTell: { try daemon.log }) {
            try reports(of: server).count > count
        }
        let after = try #require(try reports(of: server).last?["generation"]?.number?.int64)
        #expect(after > before)
    }

    /// The server gets what is so now, and nothing of what it has missed. No decision waits for it.
    @Test(arguments: ["closed", "500", "silence"])
    func aServerThatDoesNotAnswerDelaysNothing(_ behaviour: String) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let daemon = try daemon(to: server, "timeout = \"1s\"\n")
        try daemon.start()
        try await daemon.awaitState("running")
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try await daemon.awaitState("ended")
        try await daemon.awaitLine("warning: the host's state is not reported: post to 'http://")
        let checked = try daemon.control("status", "--check")
        #expect(checked.status == 1)
        #expect(checked.output.contains("the host's state is not reported: post to 'http://"))
        try await server.behave("running")
        let missed = try reports(of: server).count
        try await daemon.awaitLine("the host's state is reported again")
        let found = try reports(of: server).dropFirst(missed)
        #expect(found.count == 1)
        #expect(member("state", of: found.last)?.string == "ended")
        #expect(try daemon.lines(with: "the host's state is not reported").count == 1)
    }

    @Test(arguments: ["redirect-host", "redirect-port", "redirect-once"])
    func aRedirectIsNotFollowed(_ behaviour: String) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let daemon = try daemon(to: server)
        try daemon.start()
        try await daemon.awaitLine("the server redirects (")
        let found = try server.requests
        #expect(found.allSatisfy { $0.path == "/hosts" && $0.method == "POST" })
    }

    @Test func theCredentialsAreThoseOfASource() async throws {
        let server = try await FlagServer(isSecure: true)
        let daemon = try daemon(
            to: server, isSecure: true,
            "ca = \"\(server.folder("authority.pem"))\"\nbearer = \"token\"\n")
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.start()
        try await daemon.awaitLine("open '\(daemon.folder("token"))': no such file or directory")
        #expect(try server.requests.isEmpty)
        try daemon.folder.write("first-token\n", to: "token")
        try await awaitReport(server, "running", daemon)
        #expect(try server.requests.last?.headers["authorization"] == "Bearer first-token")
        #expect(try !daemon.log.contains("first-token"))
    }

    @Test func anotherAuthorityIsNotTrusted() async throws {
        let server = try await FlagServer(isSecure: true)
        let daemon = try daemon(to: server, isSecure: true)
        try daemon.start()
        try await daemon.awaitLine("certificate not accepted: ")
        #expect(try server.requests.isEmpty)
        #expect(try daemon.member("state") == #""running""#)
    }

    @Test func aReloadBeginsAndEndsTheReports() async throws {
        let server = try await FlagServer()
        let daemon = try Daemon()
        try daemon.start()
        try await daemon.awaitState("running")
        let report = "\n[report]\nurl = \"http://127.0.0.1:\(server.port)/hosts\"\n"
        try daemon.folder.write(Daemon.shop + report, to: "killswitchd.toml")
        try daemon.waitUntil("it was reloaded") { try daemon.control("reload").status == 0 }
        try await awaitReport(server, "running", daemon)
        try daemon.folder.write(Daemon.shop, to: "killswitchd.toml")
        #expect(try daemon.control("reload").status == 0)
        let count = try server.requests.count
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try await daemon.awaitState("ended")
        #expect(try server.requests.count == count)
    }
}
