import Files
import FlagSources
import JSON
import Signing
import Support
import Testing

/// The evaluation of conditions, compared with the official Python client for servers.
@Suite(.serialized) struct AgreementTests {
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

    @Test(.timeLimit(.minutes(10))) func everyTemplateIsEvaluatedAsByTheOfficialClient() throws {
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

/// The results of the official client for servers on generated templates.
struct OfficialClient {
    /// Parameters with a remote value, by case.
    let answers: [JSON.Object]
    /// How often each operator was false, and how often true.
    let counts: [String: (no: Int64, yes: Int64)]

    init(_ cases: [TemplateGenerator.Case]) throws {
        let folder = try TemporaryFolder()
        let lines = cases.map { generated in
            JSON.Value.object(["template": .object(generated.template), "context": generated.json])
                .serialized()
        }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "cases")
        let ended = try Program.run(
            try PythonEnvironment.ready().python,
            [Self.script(), folder("cases"), folder("answers"), folder("counts")])
        guard ended.status == 0 else {
            throw TestFailure("run the official client: \(ended.errors)")
        }
        answers = try folder.text(of: "answers").split(separator: "\n").map { line in
            try JSON.Value.parse(Array(line.utf8)).object ?? JSON.Object()
        }
        let counted = try JSON.Value.parse(try folder.text(of: "counts")).object ?? JSON.Object()
        counts = Dictionary(
            uniqueKeysWithValues: counted.members.map { key, value in
                let pair = value.array?.compactMap { $0.number?.int64 } ?? []
                return (key, (pair.first ?? 0, pair.last ?? 0))
            })
    }

    private static func script(here: String = #filePath) -> String {
        "/\(here.split(separator: "/").dropLast().joined(separator: "/"))/official-client.py"
    }
}

/// The places of hosts in a percentage: the test vectors of the official clients.
struct PercentTests {
    /// The seed, the id and the place.
    static let vectors: [(String, String, Int64)] = [
        ("1", "one", 64_146_488),
        ("2", "two", 76_516_209),
        ("3", "three", 6_701_947),
        ("4", "four", 85_000_289),
        ("5", "five", 2_514_745),
        ("", "😊", 9_911_325),
        ("", "😀", 62_040_281),
        ("hêl£o", "wørlÐ", 67_411_682),
        ("řemøťe", "çōnfįġ", 19_728_496),
        ("long", String(repeating: ".", count: 100), 39_278_120),
        ("very-long", String(repeating: ".", count: 1000), 71_699_042),
        ("abcdef", "123", 9_571_542),
    ]

    @Test(arguments: vectors)
    func aHostStandsWhereTheOfficialClientsPutIt(seed: String, id: String, place: Int64) {
        let percent = Percent(seed: seed, bounds: .upTo(0))
        #expect(percent.place(of: id, digest: SHA256.digest(of:)) == place)
    }

    @Test(arguments: vectors)
    func aHostIsInsideItsOwnLimitAndOutsideTheOneBelow(seed: String, id: String, place: Int64) {
        let context = EvaluationContext(randomizationID: id)
        for (bounds, expected) in [
            (Percent.Bounds.upTo(place), true), (.upTo(place - 1), false),
            (.above(place), false), (.above(place - 1), true),
            (.between(place - 1, place), true),
            (.between(place, place + 1), false),
            (.between(0, 50_000_000), place <= 50_000_000),
        ] {
            var evaluator = Evaluator(context, .real)
            let condition = Condition.percent(Percent(seed: seed, bounds: bounds))
            let isTrue = evaluator.isTrue(condition, named: "c")
            #expect(isTrue == expected, "\(bounds)")
        }
    }

    @Test func withoutAnIdentityNoPercentConditionIsTrue() {
        var evaluator = Evaluator(EvaluationContext(), .real)
        let condition = Condition.percent(Percent(seed: "", bounds: .above(-1)))
        let isTrue = evaluator.isTrue(condition, named: "canary")
        #expect(!isTrue)
        #expect(
            evaluator.warnings
                == ["condition 'canary' counts as false: no randomization id is known"])
    }
}
