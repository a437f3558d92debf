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
        let (server, daemon) = try await scene()
        try server.publish(server: ["service_end": .string(known.rawValue)], version: 7)
        try await problem.expectNoOrder(to: daemon, that: known, from: server) {
            try server.publish(server: ["service_end": .string($0.rawValue)], version: 8)
        }
    }
}
