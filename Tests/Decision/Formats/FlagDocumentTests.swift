import Decision
import JSON
import Testing

/// Answers that are no JSON object, each named by its kind.
@Suite struct FlagDocumentTests {
    @Test(arguments: [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("<!DOCTYPE html><p>504", "the answer is a web page, not JSON"),
        ("\n <html>", "the answer is a web page, not JSON"),
        ("[]", "the answer is an array, not a JSON object"),
        ("null", "the answer is null, not a JSON object"),
        ("\"no\"", "the answer is a string, not a JSON object"),
        ("true", "the answer is a boolean, not a JSON object"),
    ])
    func anAnswerThatIsNoJSONObjectIsRefusedByItsKind(_ body: String, saying detail: String) {
        #expect(throws: Failure(.invalid, detail)) { try FlagDocument.parse(Array(body.utf8)) }
    }

    /// Over a network a word without quotes would be an order, from any proxy that says `OK`.
    @Test(
        arguments: [
            ("true", .value, true), ("\"ended\"", .value, "ended"), (" false\n", .value, false),
            ("maintenance\n", .word, "maintenance"), ("\"ended\"", .word, "ended"),
            ("1", .word, "1"), ("update-required", .word, "update-required"),
        ] as [(String, FlagDocument.Alone, JSON.Value)])
    func aValueAloneIsTheFlagWithoutAKey(
        _ body: String, _ alone: FlagDocument.Alone, _ value: JSON.Value
    ) throws {
        #expect(try FlagDocument.parse(Array(body.utf8), alone: alone) == ["": value])
    }

    @Test(
        arguments: [
            ("maintenance", .value, "the answer is not valid JSON: …"),
            ("OK", .value, "the answer is not valid JSON: …"),
            ("1", .value, "the answer is a number, not a JSON object"),
            ("null", .value, "the answer is null, not a JSON object"),
            ("[\"ended\"]", .value, "the answer is an array, not a JSON object"),
            ("", .word, "the answer is empty"),
            ("<html>", .word, "the answer is a web page, not JSON"),
            ("null", .word, "the answer is null, not a JSON object"),
            ("in maintenance", .word, "the answer is not valid JSON: …"),
            ("maintenance!", .word, "the answer is not valid JSON: …"),
            (String(repeating: "a", count: 33), .word, "the answer is not valid JSON: …"),
            (
                "\"ended\"", .valueOfOtherType,
                "the answer is a string alone, which counts only with the Content-Type application/json"
            ),
        ] as [(String, FlagDocument.Alone, String)])
    func otherValuesAloneAreNoFlags(
        _ body: String, _ alone: FlagDocument.Alone, _ detail: String
    ) {
        let failure = #expect(throws: Failure.self) {
            try FlagDocument.parse(Array(body.utf8), alone: alone)
        }
        #expect(
            detail.hasSuffix("…")
                ? failure?.detail.hasPrefix(detail.dropLast()) == true : failure?.detail == detail)
    }

    @Test(arguments: [
        #"{"service_end": "no""#, #"{"service_end": "no",}"#, #"{"a": 1, "a": 1}"#, "{} {}",
        "\u{FEFF}{}", "OK",
    ])
    func invalidJSONIsRefused(_ body: String) throws {
        let failure = #expect(throws: Failure.self) {
            try FlagDocument.parse(Array(body.utf8))
        }
        #expect(failure?.detail.hasPrefix("the answer is not valid JSON: ") == true)
    }
}
