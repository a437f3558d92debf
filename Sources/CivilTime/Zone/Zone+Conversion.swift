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

    /// The instant as RFC 3339 has it in this zone, see `ZonedInstant`.
    package func rfc3339(_ instant: Instant) -> String { zoned(instant).description }

    /// The instant as clocks of this zone show it.
    package func zoned(_ instant: Instant) -> ZonedInstant {
        ZonedInstant(instant: instant, offset: offset(at: instant))
    }
}
