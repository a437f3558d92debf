import FlagSources
import JSON
import Testing

/// A condition on which the two official clients for servers disagree, or on which one of them fails, is
/// false, and a warning names it.
struct DisagreementTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let test: String
        let targets: [String]
        let signal: SignalValue
        let warning: String
        var testDescription: String { name }

        init(
            _ name: String, _ test: String, _ targets: [String], _ signal: SignalValue,
            _ warning: String
        ) {
            self.name = name
            self.test = test
            self.targets = targets
            self.signal = signal
            self.warning = warning
        }
    }

    static let cases = [
        Case(
            "an empty signal", "STRING_EXACTLY_MATCHES", [""], .text(""),
            "the official clients disagree on an empty text"),
        Case(
            "an empty signal that contains nothing", "STRING_DOES_NOT_CONTAIN", ["x"], .text(""),
            "the official clients disagree on an empty text"),
        Case(
            "zero", "NUMERIC_EQUAL", ["0"], .integer(0), "the official clients disagree on zero"),
        Case(
            "zero with a point", "NUMERIC_EQUAL", ["0"], .number(0),
            "the official clients disagree on zero"),
        Case(
            "not a number", "NUMERIC_EQUAL", ["nan"], .integer(1),
            "'nan' is not a number to both official clients"),
        Case(
            "a short infinity", "NUMERIC_LESS_THAN", ["inf"], .integer(1),
            "'inf' is not a number to both official clients"),
        Case(
            "an empty target", "NUMERIC_EQUAL", [""], .text("0"),
            "'' is not a number to both official clients"),
        Case(
            "another base", "NUMERIC_EQUAL", ["0x10"], .integer(16),
            "'0x10' is not a number to both official clients"),
        Case(
            "an underscore", "NUMERIC_EQUAL", ["1_0"], .integer(10),
            "'1_0' is not a number to both official clients"),
        Case(
            "digits of another script", "NUMERIC_EQUAL", ["١٢"], .integer(12),
            "'١٢' is not a number to both official clients"),
        Case(
            "six numbers", "SEMANTIC_VERSION_EQUAL", ["1.2.3.4.5.6"], .text("1.2.3.4.5.6"),
            "the official clients disagree on versions of more than 5 numbers"),
        Case(
            "a word behind the first difference", "SEMANTIC_VERSION_LESS_THAN", ["2.0"],
            .text("1.abc"), "'1.abc' is not a version to both official clients"),
        Case(
            "a negative number", "SEMANTIC_VERSION_LESS_THAN", ["12.1.3.444"],
            .text("12.1.3.-2"), "'12.1.3.-2' is not a version to both official clients"),
        Case(
            "a number left out", "SEMANTIC_VERSION_EQUAL", ["1.0.2"], .text("1..2"),
            "'1..2' is not a version to both official clients"),
        Case(
            "a number of a version beyond doubles", "SEMANTIC_VERSION_GREATER_THAN",
            ["1.9007199254740992"], .text("1.9007199254740993"),
            "the official clients disagree on numbers over 2^53"),
        Case(
            "a target beyond doubles", "SEMANTIC_VERSION_LESS_THAN", ["9007199254740993.1"],
            .text("9007199254740992.1"),
            "the official clients disagree on numbers over 2^53"),
        Case(
            "a number of a version with 17 digits", "SEMANTIC_VERSION_LESS_THAN",
            ["99999999999999999"], .text("1"),
            "'99999999999999999' is not a version to both official clients"),
        Case(
            "a whole number beyond doubles as version", "SEMANTIC_VERSION_EQUAL",
            ["9007199254740992"], .integer(9_007_199_254_740_993),
            "the official clients disagree on 9007199254740993"),
        Case(
            "a whole number with a point as text", "STRING_EXACTLY_MATCHES", ["1"], .number(1),
            "the official clients disagree on 1.0"),
        Case(
            "a whole number beyond doubles as text", "STRING_CONTAINS", ["9"],
            .integer(9_007_199_254_740_993),
            "the official clients disagree on 9007199254740993"),
        Case(
            "a blank of one of them", "STRING_EXACTLY_MATCHES", ["gold"], .text("gold\u{85}"),
            "the official clients disagree on what a blank is"),
        Case(
            "a blank of the other", "STRING_EXACTLY_MATCHES", ["gold"], .text("\u{FEFF}gold"),
            "the official clients disagree on what a blank is"),
        Case(
            "a broken expression", "STRING_CONTAINS_REGEX", ["(gold"], .text("gold"),
            "regular expression '(gold': missing ): (gold"),
        Case(
            "an expression that RE2 does not have", "STRING_CONTAINS_REGEX", ["(?=gold)"],
            .text("gold"), "regular expression '(?=gold)': invalid perl operator: (?="),
        Case(
            "an expression without measure", "STRING_CONTAINS_REGEX", ["((a{100}){100}){100}"],
            .text("gold"),
            "regular expression '((a{100}){100}){100}': invalid repetition size: {100}"),
    ]

    @Test(arguments: cases)
    func aConditionOnWhichTheClientsDisagreeIsFalseAndReported(disagreement: Case) {
        let condition = Condition([
            "customSignal": [
                "customSignalOperator": .string(disagreement.test), "customSignalKey": "s",
                "targetCustomSignalValues": .array(disagreement.targets.map { .string($0) }),
            ]
        ])
        var evaluator = Evaluator(EvaluationContext(signals: ["s": disagreement.signal]), .real)
        let isTrue = evaluator.isTrue(condition, named: "c")
        #expect(!isTrue)
        #expect(
            evaluator.warnings
                == ["condition 'c' counts as false: signal 's': \(disagreement.warning)"])
    }

    /// Both clients know 2^53 exactly; one of them takes 2^53 + 1 for the same number. It was compared as by
    /// the other one, without a warning.
    @Test(arguments: [
        ("1.9007199254740991", Relation.less), ("1.9007199254740992", .equal),
        ("1.9007199254740992", .lessOrEqual), ("2", .greater),
        ("1.9007199254740993", .greaterOrEqual), ("9007199254740993", .greater),
    ])
    func numbersOfVersionsAreComparedWhereBothClientsAgree(
        signal: String, relation: Relation
    ) {
        let context = EvaluationContext(signals: ["s": .text(signal)])
        let test = SignalTest(key: "s", comparison: .version(relation, "1.9007199254740992"))
        var evaluator = Evaluator(context, .real)
        let isTrue = evaluator.isTrue(.customSignal(test), named: "c")
        #expect(isTrue)
        #expect(evaluator.warnings == [])
    }

    @Test func aTargetThatMatchesOutweighsOneThatIsDoubtful() {
        let test = SignalTest(key: "s", comparison: .equalsAny(["gold\u{85}", "gold"]))
        var evaluator = Evaluator(EvaluationContext(signals: ["s": .text("gold")]), .real)
        let isTrue = evaluator.isTrue(.customSignal(test), named: "c")
        #expect(isTrue)
        #expect(evaluator.warnings == [])
    }

    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        let json: String
        let warning: String
        var testDescription: String { name }
    }

    static let shapes = [
        Shape(name: "none", json: "null", warning: "it is not an object"),
        Shape(name: "empty", json: "{}", warning: "it is empty"),
        Shape(
            name: "unknown kind", json: #"{"dateTime": {}}"#,
            warning: "its kind 'dateTime' is not known"),
        Shape(
            name: "kind of a wrong type", json: #"{"true": false}"#,
            warning: "'true' is a boolean, not an object"),
        Shape(
            name: "no list", json: #"{"orCondition": {"conditions": {}}}"#,
            warning: "'conditions' is an object, not an array"),
        Shape(
            name: "unknown share", json: #"{"percent": {"percentOperator": "NEARLY"}}"#,
            warning: "its operator 'NEARLY' is not known"),
        Shape(
            name: "a share as text",
            json:
                #"{"percent": {"percentOperator": "LESS_OR_EQUAL", "microPercent": "100000000"}}"#,
            warning: "'microPercent' is a string, not a number"),
        Shape(
            name: "no operator",
            json:
                #"{"customSignal": {"customSignalKey": "s", "targetCustomSignalValues": ["x"]}}"#,
            warning: "its operator '' is not known"),
        Shape(
            name: "no target",
            json: #"{"customSignal": {"customSignalKey": "s"}}"#,
            warning: "it has no target value"),
        Shape(
            name: "no text as target",
            json: #"{"customSignal": {"customSignalKey": "s", "targetCustomSignalValues": [1]}}"#,
            warning: "'targetCustomSignalValues' holds a value that is not a string"),
    ]

    @Test(arguments: shapes)
    func aConditionThatMakesNoSenseIsFalseAndReported(shape: Shape) throws {
        let condition = Condition(try JSON.Value.parse(shape.json))
        let context = EvaluationContext(randomizationID: "host", signals: ["s": .text("x")])
        var evaluator = Evaluator(context, .real)
        let isTrue = evaluator.isTrue(condition, named: "c")
        #expect(!isTrue)
        #expect(evaluator.warnings == ["condition 'c' counts as false: \(shape.warning)"])
    }

    @Test(arguments: 0...7)
    func fourLevelsAreEvaluatedAndFiveAreNot(depth: Int) {
        let nested = (0..<depth).reduce(Condition.constant(true)) { inner, level in
            level.isMultiple(of: 2) ? .or([inner]) : .and([inner])
        }
        var evaluator = Evaluator(EvaluationContext(), .real)
        let isTrue = evaluator.isTrue(nested, named: "c")
        #expect(isTrue == (depth <= 4))
        #expect(evaluator.warnings.isEmpty == (depth <= 4))
    }
}
