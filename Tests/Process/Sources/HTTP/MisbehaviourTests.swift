import Files
import JSON
import Support
import Testing

/// Flags over HTTP from misbehaving servers: only good flags are an order.
@Suite(.timeLimit(.minutes(5))) struct MisbehaviourTests {
    @Test(arguments: Misbehaviour.all)
    func theVerdictStandsPollingGoesOnAndTheNextGoodAnswerIsTaken(
        _ misbehaviour: Misbehaviour
    ) async throws {
        let server = try await FlagServer(isSecure: misbehaviour.isSecure)
        let daemon = try Daemon(
            asking: server, isSecure: misbehaviour.isSecure,
            timeout: misbehaviour.isLate ? "2s" : "30s")
        try await daemon.start(awaiting: "running")

        try await server.behave(misbehaviour.name)
        try await daemon.awaitLine(misbehaviour.line)
        try await expectTheVerdictStands(daemon, misbehaviour)
        try await expectThePace(daemon, server, misbehaviour)
        try await expectTheVerdictStands(daemon, misbehaviour)

        try await server.behave("maintenance", until: "maintenance", of: daemon)
        try await daemon.awaitReason("flags")

        if !misbehaviour.isOfTheSwitchAlone {
            try await daemon.awaitLine("over: source 'app': ")
        }
        // Once when it comes, however often it is repeated.
        #expect(
            try daemon.lines(with: misbehaviour.line).count { !$0.contains("over: ") } == 1)
        let conditions = try server.requests.compactMap { $0.headers["if-none-match"] }
        #expect(!conditions.contains(#""bad""#))
        #expect(try daemon.stop() == 0)
    }

    /// Once each of these answers was a warning of its own.
    @Test(arguments: ["another-word", "another-error"])
    func aTextThatChangesAtEveryPollIsToldOnce(_ name: String) async throws {
        let (server, daemon) = try await Daemon.polling()
        try await server.behave(name)
        try await daemon.awaitUntil("it asked six times") {
            try server.requests.count { $0.behaviour == name } > 5
        }
        #expect(try daemon.warnings.count == 1)
        #expect(try daemon.member("state") == #""running""#)
    }

    private func expectTheVerdictStands(
        _ daemon: Daemon, _ misbehaviour: Misbehaviour
    ) async throws {
        #expect(try daemon.member("state") == #""running""#)
        #expect(try daemon.member("gate") == #""open""#)
        try await daemon.awaitReason(misbehaviour.reason)
    }

    /// The first two requests that met the misbehaviour are not nearer than expected, and two that follow each other no
    /// farther apart: a busy machine is late now and then.
    private func expectThePace(
        _ daemon: Daemon, _ server: FlagServer, _ misbehaviour: Misbehaviour
    ) async throws {
        let meets = { try server.requests.filter { $0.behaviour == misbehaviour.name } }
        // When the port closes, a last request may still come over a kept connection.
        if misbehaviour.name == "closed" { return }
        if misbehaviour.endsBeforeTheRequest {
            #expect(try meets().isEmpty)
            return
        }
        let path = try #require(try meets().first).path
        let times = { try meets().filter { $0.path == path }.map(\.time) }
        var pauses: [Double] = []
        try await daemon.awaitUntil("it asks again in time") {
            pauses = try times().pauses
            return pauses.contains { $0 <= misbehaviour.pause.upperBound }
        }
        #expect(pauses[0] >= misbehaviour.pause.lowerBound)
    }
}

extension Misbehaviour {
    /// Whether the daemon closes the connection before it sends a request.
    fileprivate var endsBeforeTheRequest: Bool {
        ["expired", "other-name", "other-authority", "tls-1.1"].contains(name)
    }

    /// Whether the flags came and only the switch cannot read them: the source itself has no problem.
    fileprivate var isOfTheSwitchAlone: Bool {
        ["wrong-type", "unknown-word", "missing-key"].contains(name)
    }
}

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
