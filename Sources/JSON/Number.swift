/// A JSON number (RFC 8259 §6) with the digits as they were written, so that no precision is lost.
///
/// Two numbers are equal if they are written alike: `1.0` is not `1`. To compare their values, compare
/// `int64` or `double`.
package struct Number: Hashable, Sendable {
    /// The number in JSON's own grammar.
    package let literal: String

    /// Keeps a literal that the caller has checked or formatted.
    init(wellFormed literal: String) {
        self.literal = literal
    }

    /// The integer in decimal digits.
    package init(_ value: Int64) {
        self.init(wellFormed: String(value))
    }

    /// The shortest literal that reads back as this value; nil for infinities and NaN, which JSON
    /// does not have.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(wellFormed: value.description)
    }

    /// Nil if the text is not a number of JSON's grammar, which allows no `+1`, `01`, `.5` or `1.`.
    package init?(literal: String) {
        var reader = Reader(bytes: Array(literal.utf8), depthLimit: 0)
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

    /// The exact value, for every spelling of an integer (`15`, `15.0`, `1.5e1`); nil for a fraction or
    /// a number out of range.
    package var int64: Int64? {
        Int64(literal) ?? Decimal(literal).int64
    }
}

extension Number: ExpressibleByIntegerLiteral {
    /// The integer in decimal digits.
    package init(integerLiteral value: Int64) {
        self.init(value)
    }
}

/// A number split into a sign and digits times a power of ten.
private struct Decimal {
    private let isNegative: Bool
    /// ASCII digits without zeros at either end: empty for zero.
    private let digits: ArraySlice<UInt8>
    /// The power of ten that the last digit counts.
    private let exponent: Int

    /// Splits a literal of JSON's grammar.
    init(_ literal: String) {
        let literal = Array(literal.utf8)
        let mantissa = literal.prefix { $0 != .lowerE && $0 != .upperE }
        let power = literal[mantissa.endIndex...].dropFirst()
        let fraction = mantissa.drop { $0 != .point }.dropFirst()

        var digits = mantissa.filter(\.isDigit).drop { $0 == .zero }
        let written = digits.count
        while digits.last == .zero { digits.removeLast() }

        self.isNegative = mantissa.first == .minus
        self.digits = digits
        self.exponent = Self.exponent(power) - fraction.count + (written - digits.count)
    }

    /// The exact value; nil for a fraction or a number out of range.
    var int64: Int64? {
        guard !digits.isEmpty else { return 0 }
        // The last digit is not zero: below 10^0 it is a fraction, above 10^18 it is out of range.
        guard (0...18).contains(exponent) else { return nil }

        // Downwards from zero, because `Int64.min` has no positive counterpart.
        var value: Int64 = 0
        for digit in digits + Array(repeating: .zero, count: exponent) {
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, underflow) = tenfold.subtractingReportingOverflow(Int64(digit - .zero))
            guard !overflow, !underflow else { return nil }
            value = next
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    /// The exponent as written; 0 without one. Its magnitude is capped at 10^15: no literal has
    /// enough digits to bring a larger exponent back into range.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
        let limit = 1_000_000_000_000_000
        var magnitude = 0
        for digit in text where digit.isDigit {
            magnitude = min(magnitude * 10 + Int(digit - .zero), limit)
        }
        return text.first == .minus ? -magnitude : magnitude
    }
}
