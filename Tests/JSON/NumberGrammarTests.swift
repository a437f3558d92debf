import JSON
import Testing

/// RFC 8259 §6: how a number is spelled.
struct NumberGrammarTests {
    @Test(arguments: [
        "0", "-0", "1", "9", "10", "-1", "1234567890", "0.0", "0.5", "-0.5", "1.0", "1.50", "0.001",
        "1e1", "1E1", "1e+1", "1e-1", "1E+01", "0e0", "-0e-0", "1.5e10", "1.5E-10", "1e00", "0.0e0",
        "123456789012345678901234567890", "0.123456789012345678901234567890", "1e400",
        "-1e999999999", "1e-999999999",
    ])
    func whatTheGrammarAllowsIsKeptAsWritten(literal: String) throws {
        let alone = try Value.parse(literal)
        #expect(alone.number?.literal == literal)
        #expect(alone.serialized() == literal)
        #expect(try Value.parse("[\(literal),\(literal)]") == [alone, alone])
        #expect(Number(literal: literal)?.literal == literal)
    }

    @Test(arguments: refused)
    func whatTheGrammarDoesNotAllowIsRefusedAtItsPlace(document: Refused) {
        expect(document)
        #expect(Number(literal: String(decoding: document.bytes, as: UTF8.self)) == nil)
    }

    @Test(arguments: ["", " 1", "1 ", "1\n", "1,2", "[1]", "\"1\"", "１", "true"])
    func aLiteralIsTheNumberAndNothingElse(text: String) {
        #expect(Number(literal: text) == nil)
    }

    static let refused: [Refused] = [
        Refused("§6 a leading zero", "01", at: 1, "'1'", expected: "no digit after a leading 0"),
        Refused(
            "§6 a negative leading zero", "-012", at: 2, "'1'",
            expected: "no digit after a leading 0"),
        Refused("§6 two zeros", "00", at: 1, "'0'", expected: "no digit after a leading 0"),
        Refused("§6 a plus sign", "+1", at: 0, "'+'", expected: "a value"),
        Refused("§6 no digit before the point", ".5", at: 0, "'.'", expected: "a value"),
        Refused("§6 no digit between sign and point", "-.5", at: 1, "'.'", expected: "a digit"),
        Refused("§6 no digit after the point", "1.", at: 2, "end of input", expected: "a digit"),
        Refused("§6 an exponent after the point", "1.e5", at: 2, "'e5'", expected: "a digit"),
        Refused("§6 two points", "1.2.3", at: 3, "'.'", expected: "nothing after the value"),
        Refused("§6 two points in a row", "1..2", at: 2, "'.'", expected: "a digit"),
        Refused("§6 no digit in the exponent", "1e", at: 2, "end of input", expected: "a digit"),
        Refused(
            "§6 a sign alone in the exponent", "1e+", at: 3, "end of input", expected: "a digit"),
        Refused("§6 two signs in the exponent", "1e+-2", at: 3, "'-'", expected: "a digit"),
        Refused("§6 two exponents", "1e2e3", at: 3, "'e3'", expected: "nothing after the value"),
        Refused(
            "§6 a point in the exponent", "1e2.5", at: 3, "'.'", expected: "nothing after the value"
        ),
        Refused("§6 a sign alone", "-", at: 1, "end of input", expected: "a digit"),
        Refused("§6 two signs", "--1", at: 1, "'-'", expected: "a digit"),
        Refused("§6 a gap after the sign", "- 1", at: 1, "' '", expected: "a digit"),
        Refused("§6 hexadecimal", "0x1F", at: 1, "'x1F'", expected: "nothing after the value"),
        Refused("§6 a group separator", "1_000", at: 1, "'_'", expected: "nothing after the value"),
        Refused("§6 a decimal comma", "1,5", at: 1, "','", expected: "nothing after the value"),
        Refused("§6 not a number", "NaN", at: 0, "'NaN'", expected: "a value"),
        Refused("§6 infinity", "Infinity", at: 0, "'Infinity'", expected: "a value"),
        Refused("§6 negative infinity", "-Infinity", at: 1, "'Infinity'", expected: "a digit"),
        Refused("§6 digits of another script", "\u{0661}", at: 0, "U+0661", expected: "a value"),
        Refused(
            "§6 full-width digits after ASCII ones", "1\u{FF11}", at: 1, "U+FF11",
            expected: "nothing after the value"),
    ]
}
