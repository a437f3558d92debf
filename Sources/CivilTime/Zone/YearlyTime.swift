/// A day of every year and a time on it, as a POSIX TZ string gives them.
struct YearlyTime: Hashable, Sendable {
    let day: Day
    /// Seconds after that day's midnight; from a week before to a week after it.
    let second: Int

    enum Day: Hashable {
        /// `Jn`: 1 to 365, where 29 February is not counted.
        case ordinalWithoutLeapDay(Int)
        /// `n`: 0 to 365, where it is.
        case ordinal(Int)
        /// `Mm.w.d`: weekday `d` (0 is Sunday) of week `w` of the month; week 5 is the last.
        case weekday(month: Int, week: Int, day: Int)
    }

    /// Seconds since 1970-01-01T00:00:00 on the clock that this time is read from.
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
