import Support

extension FlagServer {
    func behave(_ name: String, until state: String, of daemon: Daemon) async throws {
        try await behave(name)
        try await daemon.awaitState(state)
    }
}

extension Daemon {
    /// A daemon that polls `server` every 100 ms for the flags of the service 'shop'.
    /// `source` and `service` are more lines of those tables. A busy machine answers late: the time limit of a request
    /// is short only where a test is about it.
    convenience init(
        asking server: FlagServer, isSecure: Bool = false, timeout: String = "30s",
        source: String = "", service: String = ""
    ) throws {
        let url =
            isSecure
            ? "https://localhost:\(server.port)/flags" : "http://127.0.0.1:\(server.port)/flags"
        let authority = isSecure ? "ca = \"\(server.folder("authority.pem"))\"" : ""
        try self.init(
            asking: url, timeout: timeout, source: "\(authority)\n\(source)", service: service)
    }

    convenience init(
        asking url: String, timeout: String = "30s", source: String = "",
        format: String = "status", service: String = ""
    ) throws {
        try self.init(
            source: """
                type = "http"
                url = "\(url)"
                interval = "100ms"
                timeout = "\(timeout)"
                \(source)
                """, service: "format = \"\(format)\"\n\(service)")
    }

    /// A server in this case, and a daemon that has taken its flags of a service in this state.
    static func polling(
        _ behaviour: String = "running", awaiting state: String = "running", source: String = ""
    ) async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer()
        try await server.behave(behaviour)
        let daemon = try Daemon(asking: server, source: source)
        daemon.server = server
        try await daemon.start(awaiting: state)
        return (server, daemon)
    }
}
