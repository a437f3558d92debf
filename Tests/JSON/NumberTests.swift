import JSON
import Testing

/// The values of numbers.
struct NumberTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let literal: String
        let int64: Int64?
        let double: Double?

        init(_ literal: String, int64: Int64?, double: Double?) {
            self.literal = literal
            self.int64 = int64
            self.double = double
        }

        var testDescription: String { literal }
    }

    @Test(arguments: [
        Row("0", int64: 0, double: 0),
        Row("-0", int64: 0, double: -0.0),
        Row("-0.0e5", int64: 0, double: -0.0),
        Row("15", int64: 15, double: 15),
        Row("15.0", int64: 15, double: 15),
        Row("1.5e1", int64: 15, double: 15),
        Row("150e-1", int64: 15, double: 15),
        Row("0.0000015E+7", int64: 15, double: 15),
        Row("-1500000e-05", int64: -15, double: -15),
        Row("1.5", int64: nil, double: 1.5),
        Row("15e-1", int64: nil, double: 1.5),
        Row("1e-1", int64: nil, double: 0.1),
        Row("1e18", int64: 1_000_000_000_000_000_000, double: 1e18),
        Row("1e19", int64: nil, double: 1e19),
        Row("9007199254740993", int64: 9_007_199_254_740_993, double: 9_007_199_254_740_992),
        Row("9223372036854775807", int64: .max, double: 0x1p63),
        Row("9223372036854775807.000", int64: .max, double: 0x1p63),
        Row("9.223372036854775807e18", int64: .max, double: 0x1p63),
        Row("922337203685477580.7e1", int64: .max, double: 0x1p63),
        Row("9223372036854775808", int64: nil, double: 0x1p63),
        Row("92233720368547758070e-1", int64: .max, double: 0x1p63),
        Row("-9223372036854775808", int64: .min, double: -0x1p63),
        Row("-9223372036854775808.0", int64: .min, double: -0x1p63),
        Row("-9.223372036854775808e18", int64: .min, double: -0x1p63),
        Row("-9223372036854775809", int64: nil, double: -0x1p63),
        Row("-9223372036854775808.1", int64: nil, double: -0x1p63),
        Row("18446744073709551616", int64: nil, double: 0x1p64),
        Row("1e308", int64: nil, double: 1e308),
        Row("1.7976931348623157e308", int64: nil, double: .greatestFiniteMagnitude),
        Row("1e309", int64: nil, double: nil),
        Row("-1e400", int64: nil, double: nil),
        Row("1e999999999", int64: nil, double: nil),
        Row("1e99999999999999999999999999", int64: nil, double: nil),
        Row("1e-99999999999999999999999999", int64: nil, double: 0),
        Row("0e99999999999999999999999999", int64: 0, double: 0),
        Row("0.1", int64: nil, double: 0.1),
    ])
    func aNumberHasItsExactIntegerAndItsNearestDouble(row: Row) throws {
        let number = try #require(Number(literal: row.literal))
        #expect(number.int64 == row.int64)
        #expect(number.double?.bitPattern == row.double?.bitPattern)
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
