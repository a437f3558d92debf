import Files
import JSON
import Support
import Testing

/// Memory for large answers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MemoryTests {
    private static let keys = (0..<17).map { #""k\#($0)":0"# }.joined(separator: ",")
    private static let state = #""apiInactive": true, "forceUpdate": false"#

    /// A daemon that has taken a small document, and takes large ones.
    private func scene() async throws -> (server: FlagServer, daemon: Daemon) {
        let server = try await FlagServer()
        try server.folder.write(StatusFlags.running.text, to: "document")
        try await server.behave("document")
        let daemon = try Daemon(asking: server, source: #"max_body = "8MiB""#)
        try await daemon.start(awaiting: "running")
        return (server, daemon)
    }

    /// Objects with a key more than are searched one by one took 43 times their size, for good.
    @Test func itIsBoundedAndGivenBack() async throws {
        let (server, daemon) = try await scene()
        let quiet = try daemon.memory
        let objects = Array(repeating: "{\(Self.keys)}", count: (8 << 20) / 145).joined(
            separator: ",")
        let large = #"{\#(Self.state), "more": [\#(objects)]}"#
        try server.folder.write(large, to: "document")
        try await daemon.awaitState("maintenance")
        // The document itself is kept, received, stored and escaped, beside its values.
        #expect(try daemon.peakMemory - quiet < 18 * large.utf8.count)
        // Polls that bring nothing new come between, for longer than the second after which memory is given
        // back for the large answer: what the small answer frees later counted for nothing then.
        let asked = try server.requests.count
        try await waitUntil("it asked often") { try server.requests.count > asked + 20 }
        try server.folder.write(StatusFlags.running.text, to: "document")
        try await daemon.awaitState("running")
        try await waitUntil("it is given back", orReport: { "\(try daemon.memory) of \(quiet)" }) {
            try daemon.memory < quiet + large.utf8.count
        }
    }

    @Test func anAnswerOfTinyValuesIsNoOrder() async throws {
        let (server, daemon) = try await scene()
        let values = Array(repeating: "[0]", count: 1 << 20).joined(separator: ",")
        try server.folder.write(#"{\#(Self.state), "more": [\#(values)]}"#, to: "document")
        try await daemon.awaitLine("too many values at line 1")
        try await daemon.awaitReason("invalid-answer", state: "running")
    }
}
