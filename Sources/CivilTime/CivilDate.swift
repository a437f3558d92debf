/// A day of the proleptic Gregorian calendar, without a place: the day begins when a zone says so.
package struct CivilDate: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// The years that a date can have: more than an `Instant` can reach, and far from overflow.
    package static let years = -999_999...999_999

    /// The date with these numbers, or nil where the calendar (or `years`) has no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard Self.years.contains(year), (1...12).contains(month), day >= 1,
            day <= Self.lengthOfMonth(month, year: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day that is this many days after 1970-01-01, held at the ends of `years`.
    package init(daysSinceEpoch: Int) {
        let first = Self.daysSinceEpoch(year: Self.years.lowerBound, month: 1, day: 1)
        let last = Self.daysSinceEpoch(year: Self.years.upperBound, month: 12, day: 31)
        (year, month, day) = Self.numbers(ofDay: min(max(daysSinceEpoch, first), last))
    }

    /// How many days this day is after 1970-01-01; negative before it.
    package var daysSinceEpoch: Int {
        Self.daysSinceEpoch(year: year, month: month, day: day)
    }

    /// The day's number, for a year, month and day that are known to be a date.
    ///
    /// This and its inverse are days_from_civil and civil_from_days of Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms": years that begin in March put the leap day last, and 400 of them
    /// have 146 097 days.
    static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = yearFromMarch.floored(dividingBy: 400)
        let yearOfEra = yearFromMarch.remainder(flooredBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date of a day by its number, which may lie a little outside `years`.
    static func numbers(ofDay daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = daysSinceEpoch + 719_468
        let era = shifted.floored(dividingBy: 146_097)
        let dayOfEra = shifted.remainder(flooredBy: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// How many days the month (1 to 12) has in that year.
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
}

extension CivilDate: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension CivilDate: CustomStringConvertible {
    /// `2027-03-31`; a year outside 0000 to 9999 with its sign, as in ISO 8601's expanded form.
    package var description: String {
        let sign = year < 0 ? "-" : year > 9_999 ? "+" : ""
        return "\(sign)\(year.magnitude.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))"
    }
}

extension BinaryInteger {
    /// The decimal digits of a number that is not negative, with leading zeros up to `width`. Digit by
    /// digit: times are written with every answer that is stored.
    func padded(to width: Int) -> String {
        var (place, count): (Self, Int) = (1, 1)
        while count < width || place <= self / 10 {
            place *= 10
            count += 1
        }
        var text = ""
        while place > 0 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "0") + UInt8(self / place % 10)))
            place /= 10
        }
        return text
    }
}
