/// An instant with the offset of a zone then: what it takes to write it as RFC 3339, later or never.
package struct ZonedInstant: Hashable, Sendable {
    package let instant: Instant
    package let offset: UTCOffset
}

extension ZonedInstant: CustomStringConvertible {
    /// In whole seconds, rounded down: `2027-03-31T08:00:00+09:00`.
    ///
    /// The offset is always a number. It is that of UTC where RFC 3339 cannot say the zone's: one
    /// with seconds, as mean solar times have, one of a day or more, or a local year outside 0000 to
    /// 9999. An instant outside those years is written as the nearest that is inside.
    package var description: String {
        let clock = CivilDateTime(
            secondsSinceEpoch: instant.seconds.addingSaturated(Int64(offset.seconds)))
        let years = TimeField.year.range
        if offset.seconds.isMultiple(of: 60), abs(offset.seconds) < 86_400,
            years.contains(clock.date.year)
        {
            return clock.wholeSeconds + offset.description
        }
        let first = CivilDate.daysSinceEpoch(year: years.lowerBound, month: 1, day: 1)
        let end = CivilDate.daysSinceEpoch(year: years.upperBound + 1, month: 1, day: 1)
        let second = min(max(instant.seconds, Int64(first) * 86_400), Int64(end) * 86_400 - 1)
        return CivilDateTime(secondsSinceEpoch: second).wholeSeconds + UTCOffset.zero.description
    }
}
