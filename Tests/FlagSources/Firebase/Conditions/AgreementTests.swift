import FlagSources
import JSON
import Support
import Testing

/// The evaluation of conditions, compared with the official Python client for servers.
@Suite(.serialized)
struct AgreementTests {
    private static let count = 32_000

    /// A fixed seed: a failure can be repeated.
    private static let seed: UInt64 = 20_261_121

    private static let sample = Result { try Sample(seed: seed, count: count) }

    /// Generated cases with the results of the official client.
    struct Sample: Sendable {
        let seed: UInt64
        let templates: [Template]
        let contexts: [EvaluationContext]
        let expected: [JSON.Object]
        let counts: [String: (no: Int64, yes: Int64)]

        init(seed: UInt64, count: Int) throws {
            var generator = TemplateGenerator(seed: seed)
            let cases = (0..<count).map { _ in generator.next() }
            let client = try OfficialClient(cases)
            self.seed = seed
            templates = try cases.map { try Template($0.template) }
            contexts = cases.map(\.context)
            expected = client.answers
            counts = client.counts
        }

        /// The first case in which an evaluator with this mistake has another result.
        func firstDifference(_ mutation: Mutation) -> Int? {
            let tools = mutation.tools(.real)
            return templates.indices.first { index in
                let mutant = mutation.apply(to: templates[index])
                return mutant.flags(in: contexts[index], tools).flags != expected[index]
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func everyTemplateIsEvaluatedAsByTheOfficialClient() throws {
        let sample = try Self.sample.get()
        try #require(sample.expected.count == Self.count)
        for index in sample.templates.indices {
            let found = sample.templates[index].flags(in: sample.contexts[index], .real).flags
            try #require(
                found == sample.expected[index],
                "seed \(sample.seed), case \(index): \(sample.templates[index].conditions)")
        }
    }

    /// The comparison covers an operator only if it was true and false often enough.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "orCondition", "andCondition", "LESS_OR_EQUAL", "GREATER_THAN", "BETWEEN",
            "STRING_CONTAINS", "STRING_DOES_NOT_CONTAIN", "STRING_EXACTLY_MATCHES",
            "STRING_CONTAINS_REGEX",
        ]
            + ["NUMERIC", "SEMANTIC_VERSION"].flatMap { family in
                [
                    "LESS_THAN", "LESS_EQUAL", "EQUAL", "NOT_EQUAL", "GREATER_THAN",
                    "GREATER_EQUAL",
                ].map { "\(family)_\($0)" }
            })
    func everyOperatorWasTrueAndFalseOftenEnough(operator word: String) throws {
        let sample = try Self.sample.get()
        let (no, yes) = sample.counts[word] ?? (0, 0)
        print("seed \(sample.seed): \(word) was false \(no) times and true \(yes) times")
        #expect(no >= 500 && yes >= 500)
    }

    @Test(.timeLimit(.minutes(10)), arguments: Mutation.all)
    func theComparisonFindsAPlantedMistake(mutation: Mutation) throws {
        let difference = try Self.sample.get().firstDifference(mutation)
        #expect(difference != nil)
    }
}
