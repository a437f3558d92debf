/// Daylight saving that comes and goes every year, for ever.
struct DaylightRule: Hashable, Sendable {
    let standard: UTCOffset
    let daylight: UTCOffset
    /// When daylight saving begins, on the clock of standard time.
    let start: YearlyTime
    /// When it ends, on the clock of daylight saving.
    let end: YearlyTime

    /// The offset at a second, and a later second up to which it is known to hold.
    ///
    /// Both dates may lie in the year before or after theirs: up to 167 hours by their time, 26 by
    /// the offset, a day where day 365 is not in the year. Hence the margin; hence two years in the
    /// usual case and one more near New Year.
    func span(at second: Int64) -> OffsetSpan {
        let margin: Int64 = 10 * 86_400
        let first = Self.year(at: second - margin) - 1
        let last = Self.year(at: second + margin)
        let nextYear = CivilDate.daysSinceEpoch(year: last + 1, month: 1, day: 1)
        var end = Int64(nextYear) * 86_400 - margin
        for year in first...last {
            let begin = startSecond(year)
            if begin > second {
                end = min(end, begin)
                continue
            }
            let over = endSecond(afterStart: begin, of: year)
            if over > second { return OffsetSpan(offset: daylight, end: over) }
        }
        return OffsetSpan(offset: standard, end: end)
    }

    private func startSecond(_ year: Int) -> Int64 {
        start.secondsSinceEpoch(year: year) - Int64(standard.seconds)
    }

    /// The end of the daylight saving that began then: this year's, or south of the equator next
    /// year's. One that ends when, or after, the next begins lasts for ever (RFC 9636 §3.3.1).
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
