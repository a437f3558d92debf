import JSON
import Testing

struct NumberTests {
    @Test(
        arguments: [
            ("0", 0, 0), ("-0", 0, -0.0), ("-0.0e5", 0, -0.0), ("15", 15, 15), ("15.0", 15, 15),
            ("1.5e1", 15, 15), ("150e-1", 15, 15), ("0.0000015E+7", 15, 15),
            ("-1500000e-05", -15, -15), ("1.5", nil, 1.5), ("15e-1", nil, 1.5),
            ("1e-1", nil, 0.1), ("1e18", 1_000_000_000_000_000_000, 1e18), ("1e19", nil, 1e19),
            ("9007199254740993", 9_007_199_254_740_993, 9_007_199_254_740_992),
            ("9223372036854775807", .max, 0x1p63), ("9223372036854775807.000", .max, 0x1p63),
            ("9.223372036854775807e18", .max, 0x1p63), ("922337203685477580.7e1", .max, 0x1p63),
            ("9223372036854775808", nil, 0x1p63), ("92233720368547758070e-1", .max, 0x1p63),
            ("-9223372036854775808", .min, -0x1p63), ("-9223372036854775808.0", .min, -0x1p63),
            ("-9.223372036854775808e18", .min, -0x1p63), ("-9223372036854775809", nil, -0x1p63),
            ("-9223372036854775808.1", nil, -0x1p63), ("18446744073709551616", nil, 0x1p64),
            ("1e308", nil, 1e308), ("1.7976931348623157e308", nil, .greatestFiniteMagnitude),
            ("1e309", nil, nil), ("-1e400", nil, nil), ("1e999999999", nil, nil),
            ("1e99999999999999999999999999", nil, nil), ("1e-99999999999999999999999999", nil, 0),
            ("0e99999999999999999999999999", 0, 0), ("0.1", nil, 0.1),
        ] as [(String, Int64?, Double?)])
    func aNumberHasItsExactIntegerAndItsNearestDouble(
        literal: String, int64: Int64?, double: Double?
    ) throws {
        let number = try #require(Number(literal: literal))
        #expect(number.int64 == int64)
        #expect(number.double?.bitPattern == double?.bitPattern)
    }

    @Test func zerosWithoutEndDoNotHideAnInteger() throws {
        let zeros = String(repeating: "0", count: 1_000_000)
        #expect(Number(literal: "7.\(zeros)")?.int64 == 7)
        #expect(Number(literal: "7\(zeros)e-1000000")?.int64 == 7)
        #expect(Number(literal: "0.\(zeros)7e1000001")?.int64 == 7)
        #expect(Number(literal: "7\(zeros)")?.int64 == nil)
        #expect(Number(literal: "7\(zeros)")?.double == nil)
    }

    @Test(arguments: [0, 1, -1, 42, .max, .min] as [Int64])
    func anIntegerIsWrittenInFull(value: Int64) {
        #expect(Number(value).literal == String(value))
        #expect(Number(value).int64 == value)
    }

    @Test(arguments: [
        (0.0, "0.0"), (-0.0, "-0.0"), (0.1, "0.1"), (15, "15.0"), (1e16, "1e+16"),
        (2.5e-7, "2.5e-07"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"),
    ])
    func aDoubleIsWrittenSoThatItReadsBackTheSame(value: Double, literal: String) throws {
        let number = try #require(Number(value))
        #expect(number.literal == literal)
        #expect(number.double?.bitPattern == value.bitPattern)
        #expect(Number(literal: number.literal) == number)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, .signalingNaN])
    func infinitiesAndNaNAreNoNumbers(value: Double) {
        #expect(Number(value) == nil)
    }

    @Test func numbersAreEqualWhenTheyAreWrittenAlike() {
        #expect(Number(literal: "15") == 15)
        #expect(Number(literal: "15.0") != 15)
        #expect(Number(literal: "1E1") != Number(literal: "1e1"))
    }
}

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
        Refused("§6 a leading zero", "01", at: 1, "'1'", expected: .noDigit),
        Refused("§6 a negative leading zero", "-012", at: 2, "'1'", expected: .noDigit),
        Refused("§6 two zeros", "00", at: 1, "'0'", expected: .noDigit),
        Refused("§6 a plus sign", "+1", at: 0, "'+'", expected: .value),
        Refused("§6 no digit before the point", ".5", at: 0, "'.'", expected: .value),
        Refused("§6 no digit between sign and point", "-.5", at: 1, "'.'", expected: .digit),
        Refused("§6 no digit after the point", "1.", at: 2, "end of input", expected: .digit),
        Refused("§6 an exponent after the point", "1.e5", at: 2, "'e5'", expected: .digit),
        Refused("§6 two points", "1.2.3", at: 3, "'.'", expected: .end),
        Refused("§6 two points in a row", "1..2", at: 2, "'.'", expected: .digit),
        Refused("§6 no digit in the exponent", "1e", at: 2, "end of input", expected: .digit),
        Refused("§6 a sign alone in the exponent", "1e+", at: 3, "end of input", expected: .digit),
        Refused("§6 two signs in the exponent", "1e+-2", at: 3, "'-'", expected: .digit),
        Refused("§6 two exponents", "1e2e3", at: 3, "'e3'", expected: .end),
        Refused("§6 a point in the exponent", "1e2.5", at: 3, "'.'", expected: .end),
        Refused("§6 a sign alone", "-", at: 1, "end of input", expected: .digit),
        Refused("§6 two signs", "--1", at: 1, "'-'", expected: .digit),
        Refused("§6 a gap after the sign", "- 1", at: 1, "' '", expected: .digit),
        Refused("§6 hexadecimal", "0x1F", at: 1, "'x1F'", expected: .end),
        Refused("§6 a group separator", "1_000", at: 1, "'_'", expected: .end),
        Refused("§6 a decimal comma", "1,5", at: 1, "','", expected: .end),
        Refused("§6 not a number", "NaN", at: 0, "'NaN'", expected: .value),
        Refused("§6 infinity", "Infinity", at: 0, "'Infinity'", expected: .value),
        Refused("§6 negative infinity", "-Infinity", at: 1, "'Infinity'", expected: .digit),
        Refused("§6 digits of another script", "\u{0661}", at: 0, "U+0661", expected: .value),
        Refused(
            "§6 full-width digits after ASCII ones", "1\u{FF11}", at: 1, "U+FF11", expected: .end),
    ]
}
