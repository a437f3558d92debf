/// Daylight saving by the same rule in every year.
struct DaylightRule: Hashable, Sendable {
    let standard: UTCOffset
    let daylight: UTCOffset
    /// The start of daylight saving, in standard time.
    let start: YearlyTime
    /// The end of daylight saving, in daylight time.
    let end: YearlyTime

    /// The offset at a second, and a later second up to which it is known to hold.
    ///
    /// Both changes may fall into the year before or after: by up to 167 hours for their time of day, 26 hours for the
    /// offset, and a day if the year has no day 365. Hence a margin of ten days, and two or three years to search.
    func span(at second: Int64) -> OffsetSpan {
        let margin: Int64 = 10 * 86_400
        let first = Self.year(at: second - margin) - 1
        let last = Self.year(at: second + margin)
        let nextYear = CivilDate.daysSinceEpoch(year: last + 1, month: 1, day: 1)
        var end = Int64(nextYear) * 86_400 - margin
        for year in first...last {
            let begin = start.secondsSinceEpoch(year: year) - Int64(standard.seconds)
            if begin > second {
                end = min(end, begin)
                continue
            }
            let over = endSecond(afterStart: begin, of: year)
            if over > second { return (daylight, over) }
        }
        return (standard, end)
    }

    /// The end of the daylight saving that began then: in the same year, or south of the equator in the
    /// next. Daylight saving that lasts until the next one begins is permanent (RFC 9636 §3.3.1).
    private func endSecond(afterStart begin: Int64, of year: Int) -> Int64 {
        var year = year
        var over = begin
        while over <= begin {
            over = end.secondsSinceEpoch(year: year) - Int64(daylight.seconds)
            year += 1
        }
        return over
    }

    private static func year(at second: Int64) -> Int {
        CivilDate.numbers(ofDay: Int(second.floored(dividingBy: 86_400))).year
    }
}

/// A day of each year and a time of day, as in a POSIX TZ string.
struct YearlyTime: Hashable, Sendable {
    let day: Day
    /// Seconds after the day's midnight, from -167 to 167 hours.
    let second: Int

    enum Day: Hashable {
        /// `Jn`: 1 to 365; 29 February is not counted.
        case ordinalWithoutLeapDay(Int)
        /// `n`: 0 to 365; 29 February is counted.
        case ordinal(Int)
        /// `Mm.w.d`: weekday `d` (0 is Sunday) of week `w` of the month; week 5 is the last.
        case weekday(month: Int, week: Int, day: Int)
    }

    /// Seconds since 1970-01-01T00:00:00 on the same clock, in this year.
    func secondsSinceEpoch(year: Int) -> Int64 {
        Int64(daysSinceEpoch(year: year)) * 86_400 + Int64(second)
    }

    private func daysSinceEpoch(year: Int) -> Int {
        switch day {
        case .ordinalWithoutLeapDay(let ordinal):
            let leapDay = ordinal >= 60 && CivilDate.isLeap(year) ? 1 : 0
            return CivilDate.daysSinceEpoch(year: year, month: 1, day: ordinal) + leapDay
        case .ordinal(let ordinal):
            return CivilDate.daysSinceEpoch(year: year, month: 1, day: 1) + ordinal
        case .weekday(let month, let week, let weekday):
            let first = CivilDate.daysSinceEpoch(year: year, month: month, day: 1)
            // 1970-01-01 was a Thursday.
            let firstWeekday = (first + 4).remainder(flooredBy: 7)
            let ahead = (weekday - firstWeekday).remainder(flooredBy: 7) + (week - 1) * 7
            let length = CivilDate.lengthOfMonth(month, year: year)
            return first + (ahead < length ? ahead : ahead - 7)
        }
    }
}
