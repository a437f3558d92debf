extension Zone {
    /// The instant at which clocks show this.
    ///
    /// Where they show it twice, the earlier. Where they skip it, the instant that it would be had
    /// they not been moved: the offset before the transition applies, as in RFC 5545 §3.3.5.
    package func instant(of clock: CivilDateTime) -> Instant {
        let wanted = clock.secondsSinceEpoch
        // No offset is greater, so the clock shows an earlier time then; walk on from there.
        var span = span(at: wanted - Int64(UTCOffset.range.upperBound) - 1)
        var second = wanted - Int64(span.offset.seconds)
        while second >= span.end {
            let transition = span.end
            span = self.span(at: transition)
            let candidate = wanted - Int64(span.offset.seconds)
            if candidate < transition { break }
            second = candidate
        }
        return Instant(seconds: second) + .microseconds(clock.microsecond)
    }

    /// The earliest later instant at which the calendar shows another day than at this one.
    ///
    /// That is the next midnight, unless clocks are moved: it may be the instant at which they jump
    /// over midnight, or back to the day before. For the end of time, which has no later instant,
    /// it is that itself.
    package func startOfNextDay(after instant: Instant) -> Instant {
        var second = instant.seconds
        var span = span(at: second)
        let today = (second + Int64(span.offset.seconds)).floored(dividingBy: 86_400)
        while true {
            let midnight = (today + 1) * 86_400 - Int64(span.offset.seconds)
            if midnight < span.end { return Instant(seconds: midnight) }
            second = span.end
            span = self.span(at: second)
            let day = (second + Int64(span.offset.seconds)).floored(dividingBy: 86_400)
            if day != today { return Instant(seconds: second) }
        }
    }

    /// How many days later the calendar shows at `later` than at `earlier`; negative the other way
    /// round.
    package func calendarDays(from earlier: Instant, to later: Instant) -> Int {
        day(at: later.seconds) - day(at: earlier.seconds)
    }

    /// The instant as RFC 3339 has it, in whole seconds, rounded down: `2027-03-31T08:00:00+09:00`.
    ///
    /// The offset is always a number. It is that of UTC where RFC 3339 cannot say the zone's: one
    /// with seconds, as mean solar times have, one of a day or more, or a local year outside 0000 to
    /// 9999. An instant outside those years is written as the nearest that is inside.
    package func rfc3339(_ instant: Instant) -> String {
        let offset = offset(at: instant)
        let clock = dateTime(at: instant)
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
