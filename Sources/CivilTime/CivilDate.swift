/// A day of the proleptic Gregorian calendar, without a time zone.
package struct CivilDate: Hashable, Sendable, CustomStringConvertible {
    /// The year, with 0 for 1 BC (ISO 8601).
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int

    /// The years that a date can have: more than an `Instant` reaches, and far from overflow.
    package static let years = -999_999...999_999

    /// The date with these numbers; nil if the calendar has no such day, or the year is not in `years`.
    package init?(year: Int, month: Int, day: Int) {
        guard Self.years.contains(year), (1...12).contains(month), day >= 1,
            day <= Self.lengthOfMonth(month, year: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day this many days after 1970-01-01, clamped to `years`.
    package init(daysSinceEpoch: Int) {
        let first = Self.daysSinceEpoch(year: Self.years.lowerBound, month: 1, day: 1)
        let last = Self.daysSinceEpoch(year: Self.years.upperBound, month: 12, day: 31)
        (year, month, day) = Self.numbers(ofDay: min(max(daysSinceEpoch, first), last))
    }

    /// The number of days since 1970-01-01; negative before.
    package var daysSinceEpoch: Int { Self.daysSinceEpoch(year: year, month: month, day: day) }

    /// The number of days since 1970-01-01, for numbers that are known to be a date.
    ///
    /// Here and in `numbers(ofDay:)` the algorithms are those of Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms": years that begin in March put the leap day last, and 400 of them have 146,097 days.
    static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = yearFromMarch.floored(dividingBy: 400)
        let yearOfEra = yearFromMarch.remainder(flooredBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date this many days after 1970-01-01, which may lie a little outside `years`.
    static func numbers(ofDay daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = daysSinceEpoch + 719_468
        let era = shifted.floored(dividingBy: 146_097)
        let dayOfEra = shifted.remainder(flooredBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The number of days of a month (1 to 12).
    static func lengthOfMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// `2027-03-31`; a year outside 0000 to 9999 has a sign, as in ISO 8601's expanded form.
    package var description: String {
        var text: [UInt8] = []
        text.append(self)
        return String(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends a non-negative number, with leading zeros up to `width`. By hand for speed: a record has several times.
    mutating func append(_ number: some BinaryInteger, _ width: Int) {
        let number = Int(number)
        var (place, digits) = (1, 1)
        while digits < width || place <= number / 10 {
            place *= 10
            digits += 1
        }
        while place > 0 {
            append(UInt8(ascii: "0") + UInt8(number / place % 10))
            place /= 10
        }
    }

    mutating func append(_ date: CivilDate) {
        if date.year < 0 { append(UInt8(ascii: "-")) }
        if date.year > 9_999 { append(UInt8(ascii: "+")) }
        append(date.year.magnitude, 4)
        append("-", twoDigits: date.month)
        append("-", twoDigits: date.day)
    }

    /// Appends an ASCII character and the two digits of a number below 100.
    mutating func append(_ separator: Unicode.Scalar, twoDigits number: Int) {
        append(UInt8(ascii: separator))
        append(UInt8(ascii: "0") + UInt8(number / 10))
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// Appends an ASCII character and a time of day.
    mutating func append(_ separator: Unicode.Scalar, timeOfDay second: Int) {
        append(separator, twoDigits: second / 3_600)
        append(":", twoDigits: second / 60 % 60)
        append(":", twoDigits: second % 60)
    }
}

/// A date and a time of day in whole seconds, without a time zone ("local time"): a zone turns it into an instant.
package struct CivilDateTime: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00 on the same clock.
    let secondsSinceEpoch: Int64

    package var date: CivilDate {
        CivilDate(daysSinceEpoch: Int(secondsSinceEpoch.floored(dividingBy: 86_400)))
    }

    var secondOfDay: Int { Int(secondsSinceEpoch.remainder(flooredBy: 86_400)) }
}

extension CivilDateTime: CustomStringConvertible {
    /// This many seconds after midnight; 86,400 is the next day.
    init(_ date: CivilDate, secondOfDay: Int = 0) {
        self.init(secondsSinceEpoch: Int64(date.daysSinceEpoch) * 86_400 + Int64(secondOfDay))
    }

    /// `2027-03-31T08:00:00`
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(32)
        text.append(date)
        text.append("T", timeOfDay: secondOfDay)
        return String(decoding: text, as: UTF8.self)
    }
}
