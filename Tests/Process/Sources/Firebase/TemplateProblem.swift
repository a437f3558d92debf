import Support
import Testing

/// A failure of a Firebase service: the case of `firebase-server.py` and the log line about it.
struct TemplateProblem: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A part of the log line.
    private let line: String
    /// The line of a daemon that starts during the failure.
    private let lineAtStart: String

    init(_ name: String, _ line: String, atStart lineAtStart: String? = nil) {
        (testDescription, self.line, self.lineAtStart) = (name, line, lineAtStart ?? line)
    }

    /// What the flags say, in the format `service-end`.
    enum Word: String, CaseIterable, Sendable {
        case no
        case over

        var state: String { self == .no ? "running" : "ended" }
        var other: Word { self == .no ? .over : .no }
    }

    /// Expects the known flags to stay in force during the failure, and the next good answer to be taken.
    /// `publish` publishes a word as version 8.
    func expectNoOrder(
        to daemon: Daemon, that knows: Word, from server: FirebaseServer,
        publish: (Word) throws -> Void
    ) async throws {
        try await daemon.start(awaiting: knows.state)
        try await server.behave(testDescription)
        try await daemon.awaitLine(line)
        #expect(try daemon.member("state") == "\"\(knows.state)\"")

        // The word that was published during the failure counts once the server has recovered.
        try publish(knows.other)
        try daemon.stop()
        try await daemon.start(awaitingLine: lineAtStart)
        #expect(try daemon.member("state") == "\"\(knows.state)\"")
        try await server.behave("ok")
        try await daemon.awaitState(knows.other.state)
        #expect(try daemon.member("version") == #""8""#)
    }
}
