import Files
import Glibc
import Support
import Testing

/// The configuration of a silent source changes: a reload and a restart have the same result, and
/// neither opens or closes a service by itself.
@Suite(.timeLimit(.minutes(5))) struct ChangedSourceTests {
    /// A change of the configuration: the text before and after.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: Kind
        let before: String
        let after: String
        var testDescription: String { name }

        enum Kind: Sendable {
            case file, http, https, etcd
        }

        init(_ name: String, _ kind: Kind, _ before: String, _ after: String) {
            (self.name, self.kind, self.before, self.after) = (name, kind, before, after)
        }
    }

    private static let changes = [
        Change("ca", .https, "authority.pem", "authority-2.pem"),
        Change("defaults", .http, "x = 1", "x = 2"),
        Change("headers", .http, "X-Team = \"a\"", "X-Team = \"b\""),
        Change("url", .http, "/flags\"", "/flagz\""),
        Change("timeout", .http, "timeout = \"30s\"", "timeout = \"31s\""),
        Change("bearer", .http, "defaults =", "bearer = \"nobody\"\ndefaults ="),
        Change("path", .file, "flags.json", "flagz.json"),
        Change("endpoints", .etcd, "endpoints = [", "endpoints = [\"http://127.0.0.1:1\", "),
        Change("prefix", .etcd, "/flags/", "/flagz/"),
        Change("type", .http, "type = \"http\"", "type = \"ofrep\""),
    ]

    @Test(arguments: changes, [true, false])
    func theKnownFlagsStayInForce(_ change: Change, _ isReload: Bool) async throws {
        let server = try await FlagServer(isSecure: change.kind == .https)
        let daemon = try await closed(by: change.kind, of: server)
        let generation = try daemon.member("generation")
        try await server.behave("closed")
        if change.kind == .file { try File.remove(daemon.folder("flags.json")) }
        if !isReload { try daemon.stop() }
        var text = try daemon.folder.text(of: "killswitchd.toml")
        try #require(text.contains(change.before))
        text.replace(change.before, with: change.after)
        if change.name == "type" { text.replace("headers = { X-Team = \"a\" }", with: "") }
        // The service `silent` has no flags: its verdict after first_timeout shows that the wait is over.
        try daemon.configure(text + Self.silent)
        if isReload { daemon.program?.send(SIGHUP) } else { try daemon.start() }
        try await daemon.awaitState("running", of: "silent")
        #expect(try daemon.member("reason", of: "silent") == #""unknown-open""#)
        #expect(try daemon.member("state") == #""maintenance""#)
        #expect(try daemon.member("gate") == #""closed""#)
        #expect(try daemon.member("generation") == generation)
        #expect(try File.exists(daemon.folder("run/shop/closed")))
    }

    /// The inherited flags are dropped as soon as the new address answers.
    @Test(arguments: [true, false])
    func anAnswerOfTheNewAddressReplacesTheInheritedFlags(_ isReload: Bool) async throws {
        let server = try await FlagServer()
        let daemon = try await closed(by: .http, of: server)
        if !isReload { try daemon.stop() }
        let text = try daemon.folder.text(of: "killswitchd.toml")
        try daemon.configure(text.replacing("/flags\"", with: "/flagz\""))
        let before = try server.requests.count
        if isReload { daemon.program?.send(SIGHUP) } else { try daemon.start() }
        let asks = { (request: FlagServer.Request) in request.path == "/flagz" }
        try await waitUntil("it asks there") {
            try server.requests[before...].contains(where: asks)
        }
        let first = try #require(try server.requests[before...].first(where: asks))
        #expect(first.headers["if-none-match"] == nil)
        try await server.behave("running", until: "running", of: daemon)
    }

    private static let silent = Daemon.service(
        "silent", on: "file:nothing.json", format: "status", #"first_timeout = "1s""#)

    /// A daemon whose service was closed by the flags of a source of this kind.
    private func closed(by kind: Change.Kind, of server: FlagServer) async throws -> Daemon {
        let common = "defaults = { x = 1 }"
        let service = #"first_timeout = "1s""#
        try await server.behave("maintenance")
        let daemon: Daemon
        switch kind {
        case .http:
            daemon = try Daemon(
                asking: server, source: "headers = { X-Team = \"a\" }\n\(common)", service: service)
        case .https:
            daemon = try Daemon(asking: server, isSecure: true, source: common, service: service)
            let authority = try server.folder.text(of: "authority.pem")
            try server.folder.write(authority, to: "authority-2.pem")
        case .file:
            daemon = try Daemon(
                Daemon.service(format: "status", #"min_closed = "0s""#, service),
                flags: StatusFlags.maintenance.text)
        case .etcd:
            try await server.behave("etcd-maintenance")
            daemon = try Daemon(
                source: """
                    type = "etcd"
                    endpoints = ["http://127.0.0.1:\(server.port)"]
                    prefix = "/flags/"
                    timeout = "2s"
                    """, service: "format = \"status\"\nkey = \"shop\"\n\(service)")
        }
        try await daemon.start(awaiting: "maintenance")
        try await daemon.awaitFile("run/shop/closed")
        return daemon
    }
}
