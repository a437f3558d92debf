/// A time zone: the offset from UTC at each instant.
package struct Zone: Sendable {
    package let name: String

    /// The seconds at which the offset changes, ascending.
    private let starts: [Int64]
    /// The offset before the first of them, and the one after each.
    private let offsets: [UTCOffset]
    /// What holds from the last of them on, or always where there is none; nil: the last offset.
    private let rule: DaylightRule?

    package static let utc = Zone(name: "UTC", starts: [], offsets: [.zero], rule: nil)

    private init(name: String, starts: [Int64], offsets: [UTCOffset], rule: DaylightRule?) {
        (self.name, self.starts, self.offsets, self.rule) = (name, starts, offsets, rule)
    }

    /// Reads the contents of a TZif file (RFC 9636, any version), which need not be trusted.
    ///
    /// The 64-bit data and the footer count where there are any. Zones that count leap seconds
    /// (those under `right/`) are refused: `CLOCK_REALTIME` does not count them.
    package init(name: String, tzif: [UInt8]) throws(ZoneError) {
        let file: TZif
        do {
            file = try TZif(tzif)
        } catch {
            throw ZoneError(zone: name, flaw: error)
        }
        switch file.rule {
        case nil:
            self.init(name: name, starts: file.starts, offsets: file.offsets, rule: nil)
        case .fixed(let offset):
            let offsets = Array(file.offsets.dropLast()) + [offset]
            self.init(name: name, starts: file.starts, offsets: offsets, rule: nil)
        case .daylight(let rule):
            self.init(name: name, starts: file.starts, offsets: file.offsets, rule: rule)
        }
    }

    /// How far clocks are ahead of UTC at this instant.
    package func offset(at instant: Instant) -> UTCOffset {
        span(at: instant.seconds).offset
    }

    /// What clocks show at this instant.
    package func dateTime(at instant: Instant) -> CivilDateTime {
        CivilDateTime(
            secondsSinceEpoch: clockSecond(at: instant.seconds),
            microsecond: Int(instant.microseconds.remainder(flooredBy: 1_000_000)))
    }

    /// What calendars show at this instant.
    package func date(at instant: Instant) -> CivilDate {
        CivilDate(daysSinceEpoch: day(at: instant.seconds))
    }

    /// The offset at a second, and a later second up to which it is known to hold.
    func span(at second: Int64) -> OffsetSpan {
        let passed = countOfStarts(upTo: second)
        if passed < starts.count { return OffsetSpan(offset: offsets[passed], end: starts[passed]) }
        return rule?.span(at: second) ?? OffsetSpan(offset: offsets[passed], end: .max)
    }

    /// The local calendar day at a second, as days since 1970-01-01.
    func day(at second: Int64) -> Int {
        Int(clockSecond(at: second).floored(dividingBy: 86_400))
    }

    private func clockSecond(at second: Int64) -> Int64 {
        second + Int64(span(at: second).offset.seconds)
    }

    private func countOfStarts(upTo second: Int64) -> Int {
        var range = starts.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if starts[middle] <= second {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

extension Zone: Hashable {
    /// Two zones with one name are two only after an update of the time zone data.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}
