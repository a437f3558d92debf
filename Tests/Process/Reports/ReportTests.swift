import Files
import Glibc
import JSON
import Support
import Testing

/// What a report of the host's state tells, to a real server.
@Suite(.timeLimit(.minutes(5))) struct ReportTests {
    @Test func aChangeIsReportedAndTheDocumentFitsItsSchema() async throws {
        let (server, daemon) = try await Daemon.reporting()
        try daemon.setFlags("over")
        try await daemon.awaitReport(of: "ended", to: server)
        let last = try #require(try server.requests.last)
        #expect(last.path == "/hosts")
        #expect(last.headers["content-type"] == "application/json")
        let found = try server.reports
        #expect(found.last?.first("status")?.string == "applied")
        #expect(found.last?.first("gate")?.string == "closed")
        let numbers = found.compactMap(\.generation)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        try daemon.folder.write(last.body, to: "report.json")
        try daemon.folder.validate("report.json", by: "host.schema.json")
    }

    /// With `max_stale` each confirmation moves `valid_until`, so that the files are written again and again.
    @Test func aHostThatIsIdleReportsNothingAndAFailureOfItsSource() async throws {
        let server = try await FlagServer()
        let services = Daemon.followingFile(interval: "1s") + "\nmax_stale = \"4s\""
        let daemon = try Daemon(reportingTo: server, services: services)
        try await daemon.startReporting(to: server)
        let source = { try server.reports.last?["sources"]?.array?.first?.object }
        #expect(try source()?["source"]?.string == "app")
        #expect(try source()?["error_message"] == .null)
        #expect(try source()?["answers"] == true)
        let count = try server.reports.count
        var ends: Set<String?> = [try daemon.member("valid_until")]
        try await daemon.awaitUntil("the record is renewed four times") {
            ends.insert(try daemon.member("valid_until"))
            return ends.count > 4
        }
        #expect(try server.reports.count == count)

        try daemon.folder.write("{", to: "flags.json")
        try await daemon.awaitUntil("the failure is reported") {
            try source()?["error_message"]?.string != nil
        }
        let numbers = try server.reports.compactMap(\.generation)
        #expect(Set(numbers).count == numbers.count)
    }

    @Test func theNumbersGrowOverARestart() async throws {
        let (server, daemon) = try await Daemon.reporting()
        let before = try #require(try server.reports.last?.generation)
        // Not even the end of the program takes a number back.
        try daemon.stop(SIGKILL)
        let count = try server.reports.count
        try daemon.start()
        try await daemon.awaitUntil("it reports again") {
            try server.reports.count > count
        }
        let after = try #require(try server.reports.last?.generation)
        #expect(after > before)
    }

    @Test(arguments: [
        "", "{", "[]", #"{"generation": -1}"#, #"{"generation": 9223372036854775807}"#,
        #"{"generation": "7"}"#,
    ])
    func aNumberThatCannotBeReadIsAWarning(_ stored: String) async throws {
        let server = try await FlagServer()
        let daemon = try Daemon(reportingTo: server)
        try Directory.create(daemon.folder("state"), mode: 0o700)
        try daemon.folder.write(stored, to: "state/report.json")
        try await daemon.startReporting(to: server)
        #expect(try (server.reports.last?.generation).map { (1..<20).contains($0) } == true)
        if !stored.isEmpty {
            #expect(try daemon.lines(with: "the reports are numbered from 1").count == 1)
        }
    }

    /// As many as a host is made for.
    @Test func aReportHasEachOfManyServices() async throws {
        let server = try await FlagServer()
        let names = (100..<356).map { "s\($0)" }
        let services =
            "[source.f]\ntype = \"file\"\npath = \"flags.json\"\n"
            + names.map {
                "[service.\($0)]\nsource = \"f\"\nformat = \"service-end\"\nmin_closed = \"0s\"\n"
            }.joined()
        let daemon = try Daemon(reportingTo: server, services: services)
        try await daemon.startReporting(to: server)
        let report = try #require(try server.reports.last?["services"]?.array)
        #expect(report.compactMap { $0.object?["service"]?.string } == names)
    }

    @Test func aReloadBeginsAndEndsTheReports() async throws {
        let server = try await FlagServer()
        let daemon = try await Daemon().start(awaiting: "running")
        let report =
            "\n[report]\nurl = \"http://127.0.0.1:\(server.port)/hosts\"\nspread = \"0s\"\n"
        try daemon.reload(Daemon.shop + report)
        try await daemon.awaitReport(of: "running", to: server)
        try daemon.reload(Daemon.shop)
        let count = try server.requests.count
        try daemon.setFlags("over")
        try await daemon.awaitState("ended")
        #expect(try server.requests.count == count)
    }
}

extension TemporaryFolder {
    /// Checks a document against a schema in docs.
    func validate(_ file: String, by schema: String) throws {
        try Program.run(
            "/usr/bin/python3",
            [
                "-c",
                "import json,sys,jsonschema;"
                    + "jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))",
                self(file), "\(Programs.project)/docs/\(schema)",
            ]
        ).expect(0)
    }
}
