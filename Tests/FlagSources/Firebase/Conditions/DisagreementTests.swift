import FlagSources
import JSON
import Testing

/// A condition on which the two official clients for servers disagree, or on which one of them fails, is
/// false, and a warning names it.
struct DisagreementTests {
    private static func disputed(_ what: String) -> String {
        "the official clients disagree on \(what)"
    }

    private static func noNumber(_ text: String) -> String {
        "'\(text)' is not a number to both official clients"
    }

    private static func noVersion(_ text: String) -> String {
        "'\(text)' is not a version to both official clients"
    }

    @Test(
        arguments: [
            // An empty signal, one that contains nothing, and zero, also with a point.
            ("STRING_EXACTLY_MATCHES", "", .text(""), disputed("an empty text")),
            ("STRING_DOES_NOT_CONTAIN", "x", .text(""), disputed("an empty text")),
            ("NUMERIC_EQUAL", "0", .integer(0), disputed("zero")),
            ("NUMERIC_EQUAL", "0", .number(0), disputed("zero")),
            // Another base, an underscore, digits of another script.
            ("NUMERIC_EQUAL", "nan", .integer(1), noNumber("nan")),
            ("NUMERIC_LESS_THAN", "inf", .integer(1), noNumber("inf")),
            ("NUMERIC_EQUAL", "", .text("0"), noNumber("")),
            ("NUMERIC_EQUAL", "0x10", .integer(16), noNumber("0x10")),
            ("NUMERIC_EQUAL", "1_0", .integer(10), noNumber("1_0")),
            ("NUMERIC_EQUAL", "١٢", .integer(12), noNumber("١٢")),
            // A word behind the first difference, a negative number, a number left out.
            (
                "SEMANTIC_VERSION_EQUAL", "1.2.3.4.5.6", .text("1.2.3.4.5.6"),
                disputed("versions of more than 5 numbers")
            ),
            ("SEMANTIC_VERSION_LESS_THAN", "2.0", .text("1.abc"), noVersion("1.abc")),
            (
                "SEMANTIC_VERSION_LESS_THAN", "12.1.3.444", .text("12.1.3.-2"),
                noVersion("12.1.3.-2")
            ),
            ("SEMANTIC_VERSION_EQUAL", "1.0.2", .text("1..2"), noVersion("1..2")),
            // Beyond doubles: a number of the version, one of the target, 17 digits, a whole number.
            (
                "SEMANTIC_VERSION_GREATER_THAN", "1.9007199254740992",
                .text("1.9007199254740993"), disputed("numbers over 2^53")
            ),
            (
                "SEMANTIC_VERSION_LESS_THAN", "9007199254740993.1", .text("9007199254740992.1"),
                disputed("numbers over 2^53")
            ),
            (
                "SEMANTIC_VERSION_LESS_THAN", "99999999999999999", .text("1"),
                noVersion("99999999999999999")
            ),
            (
                "SEMANTIC_VERSION_EQUAL", "9007199254740992", .integer(9_007_199_254_740_993),
                disputed("9007199254740993")
            ),
            // A whole number as text: with a point, and beyond doubles.
            ("STRING_EXACTLY_MATCHES", "1", .number(1), disputed("1.0")),
            ("STRING_CONTAINS", "9", .integer(9_007_199_254_740_993), disputed("9007199254740993")),
            // A blank of one of them, and of the other.
            ("STRING_EXACTLY_MATCHES", "gold", .text("gold\u{85}"), disputed("what a blank is")),
            ("STRING_EXACTLY_MATCHES", "gold", .text("\u{FEFF}gold"), disputed("what a blank is")),
            // A broken expression, one that RE2 does not have, one without measure.
            (
                "STRING_CONTAINS_REGEX", "(gold", .text("gold"),
                "regular expression '(gold': missing ): (gold"
            ),
            (
                "STRING_CONTAINS_REGEX", "(?=gold)", .text("gold"),
                "regular expression '(?=gold)': invalid perl operator: (?="
            ),
            (
                "STRING_CONTAINS_REGEX", "((a{100}){100}){100}", .text("gold"),
                "regular expression '((a{100}){100}){100}': invalid repetition size: {100}"
            ),
        ] as [(String, String, SignalValue, String)])
    func aConditionOnWhichTheClientsDisagreeIsFalseAndReported(
        test: String, target: String, signal: SignalValue, warning: String
    ) {
        let condition = Condition(BudgetTests.test(test, [target]))
        var evaluator = Evaluator(EvaluationContext(signals: ["s": signal]), .real)
        let isTrue = evaluator.isTrue(condition, named: "c")
        #expect(!isTrue)
        #expect(evaluator.warnings == ["condition 'c' counts as false: signal 's': \(warning)"])
    }

    /// Both clients know 2^53 exactly; one of them takes 2^53 + 1 for the same number. It was compared as by
    /// the other one, without a warning.
    @Test(arguments: [
        ("1.9007199254740991", Relation.less), ("1.9007199254740992", .equal),
        ("1.9007199254740992", .lessOrEqual), ("2", .greater),
        ("1.9007199254740993", .greaterOrEqual), ("9007199254740993", .greater),
    ])
    func numbersOfVersionsAreComparedWhereBothClientsAgree(signal: String, relation: Relation) {
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

    @Test(arguments: [
        ("null", "it is not an object"),
        ("{}", "it is empty"),
        (#"{"dateTime": {}}"#, "its kind 'dateTime' is not known"),
        (#"{"true": false}"#, "'true' is a boolean, not an object"),
        (#"{"orCondition": {"conditions": {}}}"#, "'conditions' is an object, not an array"),
        (#"{"percent": {"percentOperator": "NEARLY"}}"#, "its operator 'NEARLY' is not known"),
        (
            #"{"percent": {"percentOperator": "LESS_OR_EQUAL", "microPercent": "100000000"}}"#,
            "'microPercent' is a string, not a number"
        ),
        (
            #"{"customSignal": {"customSignalKey": "s", "targetCustomSignalValues": ["x"]}}"#,
            "its operator '' is not known"
        ),
        (#"{"customSignal": {"customSignalKey": "s"}}"#, "it has no target value"),
        (
            #"{"customSignal": {"customSignalKey": "s", "targetCustomSignalValues": [1]}}"#,
            "'targetCustomSignalValues' holds a value that is not a string"
        ),
    ])
    func aConditionThatMakesNoSenseIsFalseAndReported(json: String, warning: String) throws {
        let context = EvaluationContext(randomizationID: "host", signals: ["s": .text("x")])
        var evaluator = Evaluator(context, .real)
        let isTrue = evaluator.isTrue(Condition(try JSON.Value.parse(json)), named: "c")
        #expect(!isTrue)
        #expect(evaluator.warnings == ["condition 'c' counts as false: \(warning)"])
    }

    @Test(arguments: 0...7) func fourLevelsAreEvaluatedAndFiveAreNot(depth: Int) {
        let nested = (0..<depth).reduce(Condition.constant(true)) { inner, level in
            level.isMultiple(of: 2) ? .or([inner]) : .and([inner])
        }
        var evaluator = Evaluator(EvaluationContext(), .real)
        let isTrue = evaluator.isTrue(nested, named: "c")
        #expect(isTrue == (depth <= 4))
        #expect(evaluator.warnings.isEmpty == (depth <= 4))
    }
}
