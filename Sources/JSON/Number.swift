/// A JSON number (RFC 8259 §6) with the digits as they were written, so that no precision is lost.
///
/// Two numbers are equal if they are written alike: `1.0` is not `1`. `int64` and `double` compare values.
package struct Number: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number in JSON's own grammar.
    package let literal: String

    /// Keeps a literal that the caller has checked or formatted.
    init(wellFormed literal: String) { self.literal = literal }

    package init(_ value: Int64) { self.init(wellFormed: String(value)) }

    package init(integerLiteral value: Int64) { self.init(value) }

    /// The shortest literal that reads back as this value; nil for infinities and NaN, which JSON does not have.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(wellFormed: value.description)
    }

    /// Nil if the text is not a number of JSON's grammar, which allows no `+1`, `01`, `.5` or `1.`.
    package init?(literal: String) {
        var reader = Parser(bytes: Array(literal.utf8), depthLimit: 0)
        do throws(SyntaxError) {
            self = try reader.readNumber()
        } catch {
            return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The nearest double; nil if that is not finite (`1e400`).
    package var double: Double? {
        guard let value = Double(literal), value.isFinite else { return nil }
        return value
    }

    /// The exact value, for every spelling of an integer (`15`, `15.0`, `1.5e1`); nil for others or out of range.
    package var int64: Int64? { Int64(literal) ?? shiftedInt64 }

    /// `int64` for a number with a fraction or an exponent: its digits without the point and without
    /// zeros at the end, and after them as many zeros as the exponent leaves.
    private var shiftedInt64: Int64? {
        let literal = Array(literal.utf8)
        let mantissa = literal.prefix { $0 != .lowerE && $0 != .upperE }
        let fraction = mantissa.drop { $0 != .point }.dropFirst()
        var digits = mantissa.filter { $0 != .point }
        let written = digits.count
        while digits.last == .zero { digits.removeLast() }
        guard digits.last?.isDigit == true else { return 0 }

        // No literal has enough digits to bring an exponent beyond 32 bits back into range.
        let power = String(decoding: literal[mantissa.endIndex...].dropFirst(), as: UTF8.self)
        guard let exponent = power.isEmpty ? 0 : Int32(power) else { return nil }
        let zeros = Int(exponent) - fraction.count + written - digits.count
        // The last digit is not zero: below 10^0 it is a fraction, above 10^18 it is out of range.
        guard (0...18).contains(zeros) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: zeros))
    }
}
