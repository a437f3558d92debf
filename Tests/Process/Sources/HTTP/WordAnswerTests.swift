import Files
import Support
import Testing

/// Answers of a web server that are one value alone. A word without quotes is what a proxy says.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WordAnswerTests {
    private func polling(_ document: String) async throws -> (FlagServer, Daemon) {
        let server = try await FlagServer()
        try server.folder.write(document, to: "document")
        try server.folder.write(document, to: "flags")
        try await server.behave("document")
        let daemon = try Daemon(
            asking: "http://127.0.0.1:\(server.port)/flags", format: "boolean",
            service: "closed_when = true")
        daemon.server = server
        return (server, daemon)
    }

    @Test func aValueAloneIsAnOrder() async throws {
        let (server, daemon) = try await polling("false")
        try await daemon.start(awaiting: "running")
        try server.folder.write("\"on\"", to: "document")
        try await daemon.awaitState("maintenance")
        try server.folder.write("false", to: "document")
        try await daemon.awaitState("running")
    }

    @Test(arguments: ["on", "OK", "1", "null"]) func aBareWordIsNoOrder(_ word: String) async throws
    {
        let (server, daemon) = try await polling("false")
        try await daemon.start(awaiting: "running")
        try server.folder.write(word, to: "document")
        try await daemon.awaitReason("invalid-answer", state: "running")
    }

    /// The other case of the server sends no Content-Type.
    @Test func aValueOfAnotherMediaTypeIsNoOrder() async throws {
        let (server, daemon) = try await polling("false")
        try await daemon.start(awaiting: "running")
        try server.folder.write("true", to: "flags")
        try await server.behave("lying_0")
        try await daemon.awaitReason("invalid-answer", state: "running")
        try await daemon.awaitLine("which counts only with the Content-Type application/json")
    }
}
