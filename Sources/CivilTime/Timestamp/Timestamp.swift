/// A time as somebody wrote it: an instant, or a reading of a clock whose zone is not told.
package enum Timestamp: Hashable, Sendable {
    case instant(Instant)
    case local(CivilDateTime)

    /// Reads RFC 3339 §5.6, the older `yyyy-MM-dd'T'HH:mm:ss±hhmm`, and, as local times, a date and
    /// time without an offset and a date alone, which is the start of that day.
    ///
    /// Nothing is trimmed. A fraction of a second is cut to microseconds, the 60th second is the
    /// next minute, `-00:00` is UTC.
    package static func parse(_ text: String) throws(TimestampError) -> Timestamp {
        let written = try WrittenTime(text)
        return written.instant.map(Timestamp.instant) ?? .local(written.clock)
    }

    /// The instant that is meant when a local time is one of this zone.
    package func instant(in zone: Zone) -> Instant {
        switch self {
        case .instant(let instant): instant
        case .local(let clock): zone.instant(of: clock)
        }
    }
}

extension TimePoint where Axis == WallClock {
    /// Reads RFC 3339 §5.6 and nothing else; details as in `Timestamp.parse`.
    package init(rfc3339 text: String) throws(TimestampError) {
        let written = try WrittenTime(text)
        guard let instant = written.instant else {
            throw TimestampError(text: text, flaw: .noOffset)
        }
        guard written.offset?.hasColon == true else {
            throw TimestampError(text: text, flaw: .offsetWithoutColon)
        }
        self = instant
    }
}
