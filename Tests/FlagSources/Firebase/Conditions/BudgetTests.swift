import Decision
import FlagSources
import JSON
import Testing

/// Templates whose evaluation would take long: it runs on the loop of the daemon.
@Suite(.timeLimit(.minutes(5))) struct BudgetTests {
    private static let context = EvaluationContext(
        randomizationID: "host", signals: ["s": .text(String(repeating: "a", count: 200))])

    static func matching(_ patterns: [String]) -> JSON.Value {
        test("STRING_CONTAINS_REGEX", patterns)
    }

    static func test(_ word: String, _ targets: [String]) -> JSON.Value {
        [
            "customSignal": [
                "customSignalOperator": .string(word), "customSignalKey": "s",
                "targetCustomSignalValues": .array(targets.map(JSON.Value.string)),
            ]
        ]
    }

    private static func template(_ conditions: [JSON.Value]) throws -> Template {
        let named = conditions.enumerated().map { index, condition -> JSON.Value in
            ["name": .string("c\(index)"), "condition": condition]
        }
        return try Template([
            "conditions": .array(named),
            "parameters": [
                "service_end": [
                    "defaultValue": ["value": "no"],
                    "conditionalValues": ["c0": ["value": "first"], "c1": ["value": "second"]],
                ]
            ],
        ])
    }

    /// Conditions that go on like this took minutes: 8 MiB of them fit into an answer.
    enum Hostile: String, CaseIterable, Sendable {
        case tooLarge, slowToSearch, many, long, parentheses, nearlyContained, manyTexts

        var conditions: [JSON.Value] {
            switch self {
            case .tooLarge: (0..<20).map { BudgetTests.matching(["\\pL{999}\($0)"]) }
            case .slowToSearch: [BudgetTests.matching((0..<1000).map { "(a{100}){10}b\($0)" })]
            case .many: [BudgetTests.matching(Array(repeating: "b", count: 3000))]
            case .long:
                (0..<3).map { _ in BudgetTests.matching([String(repeating: "b", count: 60_000)]) }
            case .parentheses: [BudgetTests.matching([String(repeating: "(", count: 1 << 18)])]
            case .nearlyContained:
                [
                    BudgetTests.test(
                        "STRING_CONTAINS",
                        Array(repeating: String(repeating: "a", count: 100) + "b", count: 1000))
                ]
            case .manyTexts:
                [
                    BudgetTests.test(
                        "STRING_EXACTLY_MATCHES", Array(repeating: "\u{2003}", count: 100_000))
                ]
            }
        }
    }

    @Test(arguments: Hostile.allCases)
    func overTheBudgetEveryConditionIsFalseAndItIsTold(_ hostile: Hostile) throws {
        let conditions = hostile.conditions + [["true": [:]]]
        let (flags, warnings) = try Self.template(conditions).flags(in: Self.context, .real)
        #expect(flags == ["service_end": "no"])
        #expect(warnings.first?.contains("as false: the template takes more than 2000") == true)
    }

    /// What comes before the budget is spent counts.
    @Test func earlierConditionsCount() throws {
        let conditions = [["true": [:]]] + Hostile.many.conditions + [["true": [:]]]
        let (flags, warnings) = try Self.template(conditions).flags(in: Self.context, .real)
        #expect(flags == ["service_end": "first"])
        #expect(
            warnings == [
                "condition 'c1' and 1 more count as false: the template takes more than 2000 "
                    + "patterns, 128 KiB of them, or 5000000 steps"
            ])
    }

    @Test func conditionsOverTheLimitAreFalse() throws {
        let all = JSON.Value.array(Array(repeating: ["true": [:]], count: 20_000))
        let condition: JSON.Value = ["andCondition": ["conditions": all]]
        let (flags, warnings) = try Self.template([condition]).flags(in: Self.context, .real)
        #expect(flags == ["service_end": "no"])
        #expect(
            warnings == ["condition 'c0' counts as false: the template has too many conditions"])
    }

    /// As many conditions as the console allows, each with an expression of usual size.
    @Test func aLargeHonestTemplateIsInsideTheBudget() throws {
        let patterns = (0..<500).map { "^(release|staging)-[0-9]+\\.\($0)(-[a-z]+)?$" }
        let (_, warnings) = try Self.template(patterns.map { Self.matching([$0]) })
            .flags(in: EvaluationContext(signals: ["s": .text("release-4.17")]), .real)
        #expect(warnings == [])
    }
}

/// From a template to flags: the cases that the comparison with the official client does not cover.
struct TemplateTests {
    private func flags(
        _ text: String, _ context: EvaluationContext = EvaluationContext()
    ) throws -> (flags: JSON.Object, warnings: [String]) {
        let object = try #require(try JSON.Value.parse(text).object)
        return try Template(object).flags(in: context, .real)
    }

    @Test func aValueThatTheHostCannotKnowCountsAsNotGiven() throws {
        for kind in ["rolloutValue", "personalizationValue", "experimentValue"] {
            let (flags, warnings) = try flags(
                #"{"parameters": {"p": {"defaultValue": {"\#(kind)": {"value": "x"}}}}}"#)
            #expect(flags.isEmpty)
            #expect(
                warnings
                    == [
                        "parameter 'p': its value has the unsupported kind '\(kind)'; it is treated as missing"
                    ])
        }
    }

    @Test func anEmptyConditionalValueIsNotTheDefaultValue() throws {
        let (flags, warnings) = try flags(
            """
            {"conditions": [{"name": "c", "condition": {"true": {}}}],
             "parameters": {"p": {"conditionalValues": {"c": {}}, "defaultValue": {"value": "x"}}}}
            """)
        #expect(flags.isEmpty)
        #expect(warnings == ["parameter 'p': its value is empty; it is treated as missing"])
    }

    @Test func parametersInAGroupAloneAreReadAndReported() throws {
        let (flags, warnings) = try flags(
            """
            {"parameters": {"a": {"defaultValue": {"value": "top"}}},
             "parameterGroups": {"g": {"parameters": {
                "a": {"defaultValue": {"value": "group"}}, "b": {"defaultValue": {"value": "b"}}}}}}
            """)
        #expect(flags == ["a": "top", "b": "b"])
        #expect(
            warnings == [
                "group 'g' has parameters that are not at the top level; official clients ignore them"
            ])
    }

    @Test(arguments: [
        (#"{"parameters": null}"#, "the template's 'parameters' is null, not an object"),
        (#"{"parameters": []}"#, "the template's 'parameters' is an array, not an object"),
        (#"{"conditions": {}}"#, "the template's 'conditions' is an object, not an array"),
        (#"{"version": "19"}"#, "the template's 'version' is a string, not an object"),
        (#"{"parameterGroups": 1}"#, "the template's 'parameterGroups' is a number, not an object"),
    ])
    func aTemplateOfAnotherShapeIsNoTemplate(text: String, saying words: String) throws {
        #expect(throws: Failure(.invalid, words)) { try flags(text) }
    }

    @Test func theVersionIsReadAsTextAndAsNumber() throws {
        for text in [#""19""#, "19"] {
            let object = try JSON.Value.parse(#"{"version": {"versionNumber": \#(text)}}"#).object
            #expect(try Template(try #require(object)).version == "19")
        }
    }

    /// A backtracking engine takes sixty-two seconds for twenty letters.
    @Test(.timeLimit(.minutes(5))) func aPathologicalExpressionIsEvaluatedQuickly() throws {
        let signal = String(repeating: "a", count: 10_000) + "!"
        let (flags, _) = try flags(
            """
            {"conditions": [{"name": "c", "condition": {"customSignal": {
                "customSignalOperator": "STRING_CONTAINS_REGEX", "customSignalKey": "s",
                "targetCustomSignalValues": ["^(a+)+$"]}}}],
             "parameters": {"p": {"conditionalValues": {"c": {"value": "yes"}},
                                  "defaultValue": {"value": "no"}}}}
            """, EvaluationContext(signals: ["s": .text(signal)]))
        #expect(flags == ["p": "no"])
    }
}
