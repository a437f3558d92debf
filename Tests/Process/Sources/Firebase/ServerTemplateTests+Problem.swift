import JSON
import Support
import Testing

/// Failures of the service. None of them is an order.
extension ServerTemplateTests {
    static let problems = [
        TemplateProblem(
            name: "401",
            line: "401 (unauthorized): UNAUTHENTICATED: Request had invalid authentication"),
        TemplateProblem(
            name: "403",
            line: "403 (forbidden): PERMISSION_DENIED: Permission 'cloudconfig.configs.get' denied"),
        TemplateProblem(name: "404", line: "no server template is published in this project"),
        TemplateProblem(
            name: "429", line: "429 (too many requests): RESOURCE_EXHAUSTED: Quota exceeded."),
        TemplateProblem(name: "503", line: "503 (unavailable): UNAVAILABLE"),
        TemplateProblem(name: "page", line: "the answer is a web page, not JSON"),
        TemplateProblem(name: "empty", line: "the answer is empty"),
        TemplateProblem(name: "huge", line: "the answer is larger than 8388608 bytes"),
        TemplateProblem(name: "late", line: "no complete answer within 2.0 seconds"),
        TemplateProblem(name: "truncated", line: "the answer is not valid JSON"),
        TemplateProblem(
            name: "error-200", line: "UNAVAILABLE: The service is currently unavailable."),
        // The highest version is known only while the daemon runs: after a restart the old template is
        // read.
        TemplateProblem(
            name: "old-version", line: "template version 1 is lower than 7",
            lineAtStart: "is missing"),
        TemplateProblem(name: "closed", line: "cannot connect: connection refused"),
    ]

    @Test(arguments: problems, TemplateProblem.Word.allCases)
    func aFailingServiceChangesNoVerdict(problem: TemplateProblem, known: TemplateProblem.Word)
        async throws
    {
        let (server, _, daemon) = try await scene()
        try server.publish(server: ["service_end": .string(known.rawValue)], version: 7)
        try await problem.expectNoOrder(to: daemon, that: known, from: server) { word in
            try server.publish(server: ["service_end": .string(word.rawValue)], version: 8)
        }
    }
}
