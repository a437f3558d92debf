/// A number taken apart: a sign, and digits times a power of ten.
struct Decimal {
    private let isNegative: Bool
    /// ASCII digits without zeros at either end: none at all for zero.
    private let digits: ArraySlice<UInt8>
    /// The power of ten that the last digit counts.
    private let exponent: Int

    /// Takes a literal of JSON's grammar apart.
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

    /// The exact value; nil where it is no integer or out of range.
    var int64: Int64? {
        guard !digits.isEmpty else { return 0 }
        // A last digit that is not zero leaves a fraction below 10^0, and is out of range above 10^18.
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

    /// The exponent as written, none being 0. One with more digits than matter is cut short, far
    /// beyond what the length of any literal could make up for.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
        let limit = 1_000_000_000_000_000
        var magnitude = 0
        for digit in text where digit.isDigit {
            magnitude = min(magnitude * 10 + Int(digit - .zero), limit)
        }
        return text.first == .minus ? -magnitude : magnitude
    }
}
