import Support

extension Daemon {
    /// One service that reads `service_end`.
    static let serviceEnd = """
        [service.shop]
        source = "app"
        format = "service-end"
        min_closed = "0s"
        time_zone = "Asia/Tokyo"
        """

    /// A daemon that polls the server template every 100 ms, with the key in its file `account`.
    convenience init(
        serverTemplateOf server: FirebaseServer, account: String?, source: String = "",
        service: String = Daemon.serviceEnd
    ) throws {
        try self.init(
            """
            [source.app]
            type = "firebase-server"
            project = "demo"
            base_url = "\(server.url)"
            \(account == nil ? "" : #"credentials = "account""#)
            interval = "100ms"
            timeout = "2s"
            \(source)

            \(service)
            """, flags: nil)
        if let account { try folder.write(account, to: "account") }
        environment = [
            "CREDENTIALS_DIRECTORY": folder.path, "GCE_METADATA_HOST": "127.0.0.1:\(server.port)",
        ]
    }

    /// A daemon that polls the client template every 100 ms.
    convenience init(
        clientTemplateOf server: FirebaseServer, interval: String = "100ms", source: String = "",
        service: String = Daemon.serviceEnd
    ) throws {
        try self.init(
            """
            [source.app]
            type = "firebase"
            project = "demo"
            api_key = "AIza-demo"
            app_id = "1:1234567:web:abcdef0123456789"
            base_url = "\(server.url)"
            realtime_url = "\(server.url)/"
            installations_url = "\(server.url)"
            interval = "\(interval)"
            timeout = "2s"
            \(source)

            \(service)
            """, flags: nil)
    }
}
