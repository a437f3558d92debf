import Decision
import FlagSources
import JSON
import Testing

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
    @Test(.timeLimit(.minutes(5)))
    func aPathologicalExpressionIsEvaluatedQuickly() throws {
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
