/// A JSON number (RFC 8259 §6), kept as it was written, so that nothing is lost on the way through.
///
/// Two numbers are equal when they are written alike: `1.0` is not `1`. To compare what they are
/// worth, compare `int64` or `double`.
package struct Number: Hashable, Sendable {
    /// The number in JSON's own grammar.
    package let literal: String

    /// Keeps a literal that the caller has checked, or made.
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

    /// Nil where the text is not a number by JSON's grammar, which allows no `+1`, `01`, `.5` or `1.`.
    package init?(literal: String) {
        var reader = Reader(bytes: Array(literal.utf8), depthLimit: 0)
        do throws(SyntaxError) {
            self = try reader.readNumber()
        } catch {
            return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The nearest double; nil where the number is too large for one to be finite (`1e400`).
    package var double: Double? {
        guard let value = Double(literal), value.isFinite else { return nil }
        return value
    }

    /// The exact value, for every spelling of an integer (`15`, `15.0`, `1.5e1`); nil where it is
    /// no integer or out of range.
    package var int64: Int64? {
        Int64(literal) ?? Decimal(literal).int64
    }
}
