/// A time zone: the offset from UTC at each instant.
package struct Zone: Hashable, Sendable {
    /// The name, such as `Asia/Tokyo`.
    package let name: String

    private let offsets: TZif
    /// Whether its offsets are known. Those of UTC stand in for unknown ones, for times that are only shown.
    package let isKnown: Bool

    package static let utc = Zone(
        name: "UTC", offsets: TZif(starts: [], offsets: [.zero]), isKnown: true)

    /// A zone of which nothing but the name is known.
    package static func unknown(_ name: String) -> Zone {
        Zone(name: name, offsets: Zone.utc.offsets, isKnown: false)
    }
}

extension Zone {
    /// Reads the bytes of a TZif file (RFC 9636, any version), which need not be trusted.
    ///
    /// Throws for zones that count leap seconds (those under `right/`): `CLOCK_REALTIME` does not count them.
    package init(name: String, tzif: [UInt8]) throws(TimeError) {
        do {
            self.init(name: name, offsets: try TZif(tzif), isKnown: true)
        } catch {
            throw TimeError(kind: "time zone", text: name, problem: error)
        }
    }

    /// The offset from UTC at this instant.
    package func offset(at instant: Instant) -> UTCOffset {
        offsets.span(at: instant.seconds).offset
    }

    /// The local time at this instant.
    package func dateTime(at instant: Instant) -> CivilDateTime {
        CivilDateTime(secondsSinceEpoch: instant.seconds + Int64(offset(at: instant).seconds))
    }

    /// Hashes the name alone: zones of the same name differ only after an update of the time zone data.
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The instant of a local time: the earlier of two. If clocks skip it, by the offset before (RFC 5545 §3.3.5).
    package func instant(of clock: CivilDateTime) -> Instant {
        let wanted = clock.secondsSinceEpoch
        // With the greatest offset there is, the clock shows an earlier time here. Search from here on.
        var span = offsets.span(at: wanted - Int64(UTCOffset.range.upperBound) - 1)
        var second = wanted - Int64(span.offset.seconds)
        while second >= span.end {
            let transition = span.end
            span = offsets.span(at: transition)
            let candidate = wanted - Int64(span.offset.seconds)
            if candidate < transition { break }
            second = candidate
        }
        return Instant(seconds: second)
    }

    /// The earliest later instant with another local date: the next midnight, or the instant at which clocks jump over
    /// midnight or back to the day before. The last possible `Instant` returns itself.
    package func startOfNextDay(after instant: Instant) -> Instant {
        var second = instant.seconds
        var span = offsets.span(at: second)
        let today = (second + Int64(span.offset.seconds)).floored(dividingBy: 86_400)
        while true {
            let midnight = (today + 1) * 86_400 - Int64(span.offset.seconds)
            if midnight < span.end { return Instant(seconds: midnight) }
            second = span.end
            span = offsets.span(at: second)
            let day = (second + Int64(span.offset.seconds)).floored(dividingBy: 86_400)
            if day != today { return Instant(seconds: second) }
        }
    }

    /// The number of local days from one instant to another; negative if `later` is the earlier day.
    package func calendarDays(from earlier: Instant, to later: Instant) -> Int {
        let day = { Int(dateTime(at: $0).secondsSinceEpoch.floored(dividingBy: 86_400)) }
        return day(later) - day(earlier)
    }

    /// The instant in this zone by RFC 3339, as `ZonedInstant` describes.
    package func rfc3339(_ instant: Instant) -> String { zoned(instant).description }

    /// The instant with this zone's offset.
    package func zoned(_ instant: Instant) -> ZonedInstant {
        ZonedInstant(instant: instant, offset: offset(at: instant))
    }
}

/// An instant with the offset of a zone: enough to format it by RFC 3339 later, without the zone.
package struct ZonedInstant: Hashable, Sendable, CustomStringConvertible {
    package let instant: Instant
    package let offset: UTCOffset

    /// In whole seconds, rounded down: `2027-03-31T08:00:00+09:00`.
    ///
    /// The offset is `+00:00` if RFC 3339 cannot express the zone's: one with seconds, as in mean solar times, one of
    /// a day or more, or with a local year outside 0000 to 9999. An instant outside those years is clamped to them.
    package var description: String {
        let clock = CivilDateTime(
            secondsSinceEpoch: instant.seconds.addingSaturated(Int64(offset.seconds)))
        if offset.seconds.isMultiple(of: 60), abs(offset.seconds) < 86_400,
            (0...9_999).contains(clock.date.year)
        {
            return "\(clock)\(offset)"
        }
        return "\(instant.clockWithFourDigitYear)\(UTCOffset.zero)"
    }
}

extension TimePoint where Axis == WallClock {
    /// The time of a clock in UTC, clamped to the years 0000 to 9999.
    var clockWithFourDigitYear: CivilDateTime {
        let first = CivilDate.daysSinceEpoch(year: 0, month: 1, day: 1)
        let end = CivilDate.daysSinceEpoch(year: 10_000, month: 1, day: 1)
        return CivilDateTime(
            secondsSinceEpoch: min(max(seconds, Int64(first) * 86_400), Int64(end) * 86_400 - 1))
    }
}

/// An offset from UTC.
package struct UTCOffset: Hashable, Sendable, CustomStringConvertible {
    /// Seconds ahead of UTC; negative west of Greenwich.
    package let seconds: Int

    package static let zero = UTCOffset(seconds: 0)

    /// What RFC 9636 §3.2 and a POSIX TZ string can express: -24:59:59 to 25:59:59, with an hour of daylight saving.
    static let range = -89_999...93_599

    /// `+09:00`, `-03:30`; with seconds only if they are not 0: `-00:44:30`.
    package var description: String {
        let magnitude = Int(seconds.magnitude)
        var text: [UInt8] = []
        text.append(seconds < 0 ? "-" : "+", twoDigits: magnitude / 3_600)
        text.append(":", twoDigits: magnitude / 60 % 60)
        if magnitude % 60 != 0 { text.append(":", twoDigits: magnitude % 60) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// An offset, and the second (since 1970-01-01T00:00:00Z) up to which it is known to hold; it may hold longer.
typealias OffsetSpan = (offset: UTCOffset, end: Int64)
