import JSON
import Support
import Testing

extension FirebaseServer {
    /// Publishes the end of the service in the client template, and waits for it.
    func end(_ daemon: Daemon, client version: Int = 8) async throws {
        try publish(client: ["service_end": "over"], version: version)
        try await daemon.awaitState("ended")
    }

    /// Publishes the end of the service in the server template, and waits for it.
    func end(_ daemon: Daemon, server version: Int) async throws {
        try publish(server: ["service_end": "over"], version: version)
        try await daemon.awaitState("ended")
    }

    func awaitRequests(to path: String, _ isWanted: (Int) -> Bool) async throws {
        var count = 0
        try await waitUntil("'\(path)' is asked", orReport: { "\(count) times" }) {
            count = try requests(to: path).count
            return isWanted(count)
        }
    }

    /// Waits for so many requests, and expects no more.
    func awaitRequests(
        to path: String, exactly count: Int, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await awaitRequests(to: path) { $0 >= count }
        #expect(try requests(to: path).count == count, sourceLocation: location)
    }
}

extension JSON.Value {
    /// A condition of a server template on a custom signal.
    static func signal(
        _ key: String, _ comparison: JSON.Value, _ values: [JSON.Value]
    ) -> JSON.Value {
        [
            "customSignal": [
                "customSignalOperator": comparison, "customSignalKey": .string(key),
                "targetCustomSignalValues": .array(values),
            ]
        ]
    }
}

extension Daemon {
    static let serviceEnd = service(
        on: "app", #"min_closed = "0s""#, #"time_zone = "Asia/Tokyo""#)

    /// A daemon that polls the server template every 100 ms, with the key in its file `account`.
    convenience init(
        serverTemplateOf server: FirebaseServer, account: String?, timeout: String = "30s",
        source: String = "", service: String = Daemon.serviceEnd
    ) throws {
        try self.init(
            """
            [source.app]
            type = "firebase-server"
            project = "demo"
            base_url = "\(server.url)"
            \(account == nil ? "" : #"credentials = "account""#)
            interval = "100ms"
            timeout = "\(timeout)"
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
        clientTemplateOf server: FirebaseServer, interval: String = "100ms",
        source: String = "", service: String = Daemon.serviceEnd
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
            timeout = "30s"
            \(source)

            \(service)
            """, flags: nil)
    }
}
