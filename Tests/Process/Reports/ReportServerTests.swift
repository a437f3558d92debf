import Files
import JSON
import Support
import Testing

/// A server of reports that is away, slow, wrong or strange.
@Suite(.timeLimit(.minutes(5))) struct ReportServerTests {
    /// The server gets what is so now, and nothing of what it has missed.
    @Test(arguments: ["closed", "500", "silence"])
    func aServerThatComesBackGetsThePresentStateOnce(_ behaviour: String) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        // A report that is taken too late on a busy machine would be sent twice.
        let timeout = behaviour == "silence" ? "5s" : "30s"
        let daemon = try Daemon(reportingTo: server, "timeout = \"\(timeout)\"\n")
        try await daemon.start(awaiting: "running")
        try daemon.setFlags("over")
        try await daemon.awaitState("ended")
        try await daemon.awaitLine("warning: the host's state is not reported: post to 'http://")
        try await daemon.awaitStatus("the host's state is not reported: post to 'http://")
        try daemon.control("status", "--check").expect(
            1, output: "the host's state is not reported: post to 'http://")
        try await server.behave("running")
        try await daemon.awaitLine("over: the host's state is not reported")
        let taken = try server.reportRequests.filter { $0.behaviour == "running" }
        #expect(taken.count == 1)
        #expect(try server.reports.last?.first("state")?.string == "ended")
        #expect(try daemon.lines(with: "warning: the host's state is not reported").count == 1)
    }

    /// One report is in flight all the time: no poll, no decision and no order waits for its end.
    @Test func everythingGoesOnWhileTheServerIsSilent() async throws {
        let server = try await FlagServer()
        try await server.behave("silence")
        let daemon = try Daemon(reportingTo: server, "timeout = \"10m\"\n").start()
        try await daemon.awaitUntil("the report is in flight") {
            try !server.reportRequests.isEmpty
        }
        for (flags, state) in [("over", "ended"), ("no", "running"), ("over", "ended")] {
            try daemon.folder.write(#"{"service_end": "\#(flags)"}"#, to: "flags.json")
            try await daemon.awaitState(state)
        }
        try daemon.control("open", "shop", "--for", "1h", "--reason", "test").expect(0)
        #expect(try daemon.member("state") == #""running""#)
        try daemon.control("reload").expect(0)
        #expect(try server.reportRequests.count == 1)
        #expect(try daemon.lines(with: "not reported").isEmpty)
        #expect(try daemon.stop() == 0)
    }

    @Test(arguments: ["redirect-host", "redirect-port", "redirect-once"])
    func aRedirectIsNotFollowed(_ behaviour: String) async throws {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let daemon = try Daemon(reportingTo: server)
        try await daemon.start(
            awaitingLine: "the server redirects (302), and killswitchd does not follow")
        let found = try server.requests
        #expect(found.allSatisfy { $0.path == "/hosts" && $0.method == "POST" })
    }

    @Test func theCredentialsAreThoseOfASource() async throws {
        let server = try await FlagServer(isSecure: true)
        let daemon = try Daemon(
            reportingTo: server, isSecure: true,
            "ca = \"\(server.folder("authority.pem"))\"\nbearer = \"token\"\n")
        daemon.environment = ["CREDENTIALS_DIRECTORY": daemon.folder.path]
        try daemon.start()
        try await daemon.awaitLine("open '\(daemon.folder("token"))': no such file or directory")
        #expect(try server.requests.isEmpty)
        try daemon.folder.write("first-token\n", to: "token")
        try await daemon.awaitReport(of: "running", to: server)
        #expect(try server.requests.last?.headers["authorization"] == "Bearer first-token")
        #expect(try !daemon.log.contains("first-token"))
    }

    @Test func aServerThatKnowsItsClientsGetsTheCertificate() async throws {
        let server = try await FlagServer(isSecure: true)
        try await server.behave("client-certificate")
        let daemon = try Daemon(
            reportingTo: server, isSecure: true,
            "ca = \"\(server.folder("authority.pem"))\"\n"
                + "client_certificate = \"\(server.folder("client.pem"))\"\n")
        try await daemon.startReporting(to: server)
    }

    @Test func withoutACertificateThatServerTakesNoReport() async throws {
        let server = try await FlagServer(isSecure: true)
        try await server.behave("client-certificate")
        let daemon = try Daemon(
            reportingTo: server, isSecure: true, "ca = \"\(server.folder("authority.pem"))\"\n")
        try await daemon.start(awaitingLine: "warning: the host's state is not reported")
        #expect(try server.requests.isEmpty)
    }

    @Test func anotherAuthorityIsNotTrusted() async throws {
        let server = try await FlagServer(isSecure: true)
        let daemon = try Daemon(reportingTo: server, isSecure: true)
        try await daemon.start(awaitingLine: "certificate not accepted: ")
        #expect(try server.requests.isEmpty)
        #expect(try daemon.member("state") == #""running""#)
    }
}

extension Daemon {
    /// A daemon on its flags file that reports to this server, with these further keys of `[report]`.
    convenience init(
        reportingTo server: FlagServer, isSecure: Bool = false, _ more: String = "",
        services: String = Daemon.shop
    ) throws {
        let address =
            isSecure ? "https://localhost:\(server.port)" : "http://127.0.0.1:\(server.port)"
        try self.init("\(services)\n[report]\nurl = \"\(address)/hosts\"\nspread = \"0s\"\n\(more)")
    }

    /// A server, and a daemon that has reported a running service to it.
    static func reporting() async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer()
        let daemon = try Daemon(reportingTo: server)
        try await daemon.startReporting(to: server)
        return (server, daemon)
    }

    /// Starts the daemon, and waits for the report of a running service.
    func startReporting(to server: FlagServer) async throws {
        try start()
        try await awaitReport(of: "running", to: server)
    }

    /// Waits until the server has a report in which the first service has this state.
    func awaitReport(of state: String, to server: FlagServer) async throws {
        try await Support.waitUntil("'\(state)' is reported", orReport: { try account }) {
            try server.reports.last?.first("state")?.string == state
        }
    }
}

extension FlagServer {
    var reportRequests: [Request] { get throws { try requests.filter { $0.method == "POST" } } }

    var reports: [JSON.Object] {
        get throws {
            try reportRequests.map { request in
                try #require(try JSON.Value.parse(request.body).object)
            }
        }
    }
}

extension JSON.Object {
    /// The member of the first service of a report.
    func first(_ name: String) -> JSON.Value? { self["services"]?.array?.first?.object?[name] }

    var generation: Int64? { self["generation"]?.number?.int64 }
}
