/// Why a text is not a time.
package struct TimestampError: Error, Hashable, CustomStringConvertible {
    package let text: String
    package let flaw: Flaw

    package enum Flaw: Error, Hashable {
        /// Something else stands at this character, counted from 1.
        case expected(String, at: Int)
        case outOfRange(TimeField, value: Int)
        case noSuchDay(year: Int, month: Int, day: Int)
        /// An offset without a colon belongs to the one form that has neither fraction nor space.
        case offsetWithoutColon
        /// A date and time that only a zone would turn into an instant.
        case noOffset
    }

    package var description: String {
        "read time '\(text.excerpt)': \(flaw)"
    }
}

extension TimestampError.Flaw: CustomStringConvertible {
    package var description: String {
        switch self {
        case .expected(let what, let column): "\(what) expected at character \(column)"
        case .outOfRange(let field, let value):
            "\(field.rawValue) \(value) is not from \(field.range.lowerBound) to "
                + "\(field.range.upperBound)"
        case .noSuchDay(let year, let month, let day):
            "\(year.padded(to: 4))-\(month.padded(to: 2)) has no day \(day)"
        case .offsetWithoutColon:
            "an offset without a colon is read only right after 'T' and whole seconds"
        case .noOffset: "it has no offset from UTC, such as Z or +09:00"
        }
    }
}

/// A number in a written time, and the values it can have (RFC 3339 §5.6).
package enum TimeField: String, Hashable, Sendable {
    case year, month, day, hour, minute, second
    case offsetHour = "offset hour"
    case offsetMinute = "offset minute"

    package var range: ClosedRange<Int> {
        switch self {
        case .year: 0...9_999
        case .month: 1...12
        case .day: 1...31
        case .hour, .offsetHour: 0...23
        case .minute, .offsetMinute: 0...59
        case .second: 0...60
        }
    }
}
