import Support

extension Daemon {
    /// A daemon that polls `server` every 100 ms for the flags of the service 'shop'.
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

    /// A daemon that polls `url`.
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
}
