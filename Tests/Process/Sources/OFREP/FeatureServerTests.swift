import JSON
import Support
import Testing

/// Flags of a server that somebody else has written: fast-feature, which evaluates them by OFREP.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FeatureServerTests {
    /// The server with an administration, through which a test sets flags.
    private final class Server {
        let port: Int
        private var program: Program?

        init() async throws {
            let port = try freePort()
            self.port = port
            let python = try PythonEnvironment.ready().python
            program = try Program(
                python,
                [
                    "-c", "from fast_feature.server.cli import Cli; Cli.run()", "serve", "--port",
                    "\(port)",
                ], environment: ["FAST_FEATURE_ADMIN": "true"])
            let program = program
            try await waitUntil(
                "the server listens", every: .milliseconds(200),
                orReport: { try program?.errors ?? "" }
            ) {
                try self.ask("GET", "", "").status == 0
            }
        }

        deinit { program = nil }

        /// Sets a flag to one of two values.
        func set(_ key: String, to variant: String, on: String = "true", off: String = "false")
            throws
        {
            let flag = """
                {"key": "\(key)", "variants": {"on": \(on), "off": \(off)},
                 "default_variant": "\(variant)"}
                """
            if try ask("PUT", "/\(key)", flag).status != 0 { try ask("POST", "", flag).expect(0) }
        }

        func enable(_ key: String, _ isEnabled: Bool) throws {
            try ask("PATCH", "/\(key)", #"{"enabled": \#(isEnabled)}"#).expect(0)
        }

        @discardableResult
        func ask(_ method: String, _ path: String, _ body: String) throws -> Program.Result {
            try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--show-error", "--fail", "--noproxy", "*", "-X", method, "-H",
                    "Content-Type: application/json", "--data", body,
                    "http://127.0.0.1:\(port)/admin/api/flags\(path)",
                ])
        }
    }

    private func daemon(on server: Server, _ service: String) throws -> Daemon {
        try Daemon(
            source: """
                type = "ofrep"
                url = "http://127.0.0.1:\(server.port)"
                interval = "100ms"
                """, service: service)
    }

    @Test func aBooleanOfTheServerIsAnOrder() async throws {
        let server = try await Server()
        try server.set("shop-enabled", to: "on")
        let daemon = try daemon(
            on: server,
            """
            format = "boolean"
            key = "shop-enabled"
            closed_when = false
            """)
        try await daemon.start(awaiting: "running")
        try server.set("shop-enabled", to: "off")
        try await daemon.awaitState("maintenance")
        // Its value is `false` still, and no order.
        try server.enable("shop-enabled", false)
        try await daemon.awaitReason("invalid-answer", state: "maintenance")
        try await daemon.awaitLine("key 'shop-enabled' is missing")
        try server.enable("shop-enabled", true)
        try server.set("shop-enabled", to: "on")
        try await daemon.awaitState("running")
        // The same flag as a word.
        try server.set("shop-enabled", to: "off", on: "\"yes\"", off: "\"no\"")
        try await daemon.awaitState("maintenance")
        try daemon.expect("maintenance", "flags")
    }

    @Test func aStateWordOfTheServerIsAnOrder() async throws {
        let server = try await Server()
        try server.set("shop", to: "off", on: "\"ended\"", off: "\"running\"")
        let daemon = try daemon(on: server, "format = \"switch\"\nkey = \"shop\"")
        try await daemon.start(awaiting: "running")
        try server.set("shop", to: "on", on: "\"ended\"", off: "\"running\"")
        try await daemon.awaitState("ended")
    }
}
