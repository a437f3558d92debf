import Files
import Support

extension FlagServer {
    /// A server of OpenFeature that holds the flags of a running service.
    static func ofrep() async throws -> FlagServer {
        let server = try await FlagServer(script: "ofrep-server.py")
        try server.hold("running")
        return server
    }

    /// Replaces its flags by those of a service in this state, in the format `status`, and the additional flags `more`.
    func hold(_ state: String, more: String = "") throws {
        let value = StatusFlags(rawValue: state)?.text ?? ""
        try folder.write(#"{"shop": {"value": \#(value)}\#(more)}"#, to: "flags.json")
    }

    func hold(_ state: String, for daemon: Daemon) async throws {
        try hold(state)
        try await daemon.awaitState(state)
    }

    var evaluations: [Request] {
        get throws { try requests.filter { $0.path.hasPrefix("/ofrep/v1/evaluate/flags") } }
    }

    var streams: [Request] { get throws { try requests.filter { $0.path.hasPrefix("/events") } } }

    func awaitStream() async throws {
        try await waitUntil("a stream is asked for") { try !streams.isEmpty }
    }
}

extension Daemon {
    /// A daemon that polls the server for the flags of the service 'shop'.
    convenience init(
        evaluatedBy server: FlagServer, interval: String = "100ms", source: String = "",
        after: String = ""
    ) throws {
        try self.init(
            source: """
                type = "ofrep"
                url = "http://127.0.0.1:\(server.port)"
                interval = "\(interval)"
                timeout = "30s"
                \(source)
                """, service: "format = \"status\"\nkey = \"shop\"\n\(after)")
    }

    /// The peak of its resident memory, in bytes.
    var peakMemory: Int { get throws { try memory("VmHWM") } }

    /// Its resident memory, in bytes.
    var memory: Int { get throws { try memory("VmRSS") } }

    func memory(_ field: String) throws -> Int {
        let path = "/proc/\(program?.processID ?? 0)/status"
        let status = String(decoding: try File.read(path, limit: 1 << 16), as: UTF8.self)
        guard
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let kilobytes = line.firstMatch(of: /([0-9]+) kB/).flatMap({ Int($0.1) })
        else { throw TestFailure("'\(path)' tells no \(field)") }
        return kilobytes << 10
    }
}
