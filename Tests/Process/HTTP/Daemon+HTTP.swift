import Files
import Support

extension Daemon {
    /// A daemon that asks `server` every 100 ms for the flags of the service 'shop'.
    /// `source` and `service` are more lines of those tables.
    convenience init(
        asking server: FlagServer, isSecure: Bool = false, source: String = "",
        service: String = ""
    ) throws {
        let url =
            isSecure
            ? "https://localhost:\(server.port)/flags" : "http://127.0.0.1:\(server.port)/flags"
        let authority = isSecure ? "ca = \"\(server.folder("authority.pem"))\"" : ""
        try self.init(asking: url, source: "\(authority)\n\(source)", service: service)
    }

    /// A daemon that asks for what is at `url`.
    convenience init(asking url: String, source: String = "", service: String = "") throws {
        try self.init(
            """
            [source.app]
            type = "http"
            url = "\(url)"
            interval = "100ms"
            timeout = "2s"
            \(source)

            [service.shop]
            source = "app"
            format = "status"
            min_closed = "0s"
            \(service)
            """, flags: nil)
    }

    /// The lines that it has written so far and that hold `text`.
    func lines(with text: String) throws -> [Substring] {
        try log.split(separator: "\n").filter { $0.contains(text) }
    }

    /// Waits until a line of the log holds `text`.
    func awaitLine(_ text: String) async throws {
        try await Support.waitUntil("the log says '\(text)'", orTell: { try log }) {
            try !lines(with: text).isEmpty
        }
    }

    /// Waits until the service is in this state.
    func awaitState(_ state: String, of service: String = "shop") async throws {
        try await awaitMember("state", state, of: service)
    }

    /// Waits until the verdict has this reason.
    func awaitReason(_ reason: String) async throws {
        try await awaitMember("reason", reason)
    }

    private func awaitMember(
        _ name: String, _ value: String, of service: String = "shop"
    ) async throws {
        try await Support.waitUntil("the \(name) is '\(value)'", orTell: { try log }) {
            guard try File.exists(folder("run/\(service)/state.json")) else { return false }
            return try member(name, of: service) == "\"\(value)\""
        }
    }
}
