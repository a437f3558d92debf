import JSON
import Support
import Testing

/// Failures of the service. None of them is an order.
extension ServerTemplateTests {
    static let problems: [TemplateProblem] = [
        .init("401", "401 (unauthorized): UNAUTHENTICATED: Request had invalid authentication"),
        .init(
            "403",
            "403 (forbidden): PERMISSION_DENIED: Permission 'cloudconfig.configs.get' denied"),
        .init("404", "no server template is published in this project"),
        .init("429", "429 (too many requests): RESOURCE_EXHAUSTED: Quota exceeded."),
        .init("503", "503 (unavailable): UNAVAILABLE"),
        .init("page", "the answer is a web page, not JSON"),
        .init("empty", "the answer is empty"),
        .init("huge", "the answer is larger than 8388608 bytes"),
        .init("late", "no complete answer within 2.0 seconds"),
        .init("truncated", "the answer is not valid JSON"),
        .init("error-200", "UNAVAILABLE: The service is currently unavailable."),
        // The highest version is known only while the daemon runs: after a restart the old template is read.
        .init("old-version", "template version 1 is lower than 7", atStart: "is missing"),
        .init("closed", "cannot connect: connection refused"),
    ]

    @Test(arguments: problems, TemplateProblem.Word.allCases)
    func aFailingServiceChangesNoVerdict(problem: TemplateProblem, known: TemplateProblem.Word)
        async throws
    {
        let (server, daemon) = try await scene(timeout: problem.isLate ? "2s" : "30s")
        try server.publish(server: ["service_end": .string(known.rawValue)], version: 7)
        try await problem.expectNoOrder(to: daemon, that: known, from: server) {
            try server.publish(server: ["service_end": .string($0.rawValue)], version: 8)
        }
    }
}

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

    /// Whether its answer is not complete within the time limit of a request.
    var isLate: Bool { line.hasPrefix("no complete answer") }

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
