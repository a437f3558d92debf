import Files
import JSON
import Support
import Testing

extension Daemon {
    /// A daemon on its flags file that reports to this server, with these further keys of `[report]`.
    convenience init(
        reportingTo server: FlagServer, isSecure: Bool = false, _ more: String = "",
        services: String = Daemon.shop
    ) throws {
        let address =
            isSecure ? "https://localhost:\(server.port)" : "http://127.0.0.1:\(server.port)"
        try self.init("\(services)\n[report]\nurl = \"\(address)/hosts\"\n\(more)")
    }

    /// Starts the daemon, and waits for the report of a running service.
    func startReporting(to server: FlagServer) async throws {
        try start()
        try await awaitReport(of: "running", to: server)
    }

    /// Waits until the server has a report in which the first service has this state.
    func awaitReport(of state: String, to server: FlagServer) async throws {
        try await Support.waitUntil("'\(state)' is reported", orReport: { try log }) {
            try server.reports.last?.first("state")?.string == state
        }
    }
}

extension FlagServer {
    /// The requests with a report.
    var reportRequests: [Request] { get throws { try requests.filter { $0.method == "POST" } } }

    /// The reports that the server has got.
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
    func first(_ name: String) -> JSON.Value? {
        self["services"]?.array?.first?.object?[name]
    }

    /// The number of a report.
    var generation: Int64? { self["generation"]?.number?.int64 }
}
