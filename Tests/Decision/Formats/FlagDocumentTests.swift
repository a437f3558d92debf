import Decision
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
    ])
    func anAnswerThatIsNoJSONObjectIsRefusedByItsKind(_ body: String, saying detail: String) {
        #expect(throws: Failure(.invalid, detail)) {
            try FlagDocument.parse(Array(body.utf8))
        }
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
