/// A date and a reading of the clock on the wall, without a place: which instant that is, a zone says.
package struct CivilDateTime: Hashable, Sendable {
    package let date: CivilDate
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let microsecond: Int

    /// The reading with these numbers, or nil where a clock does not show them (second 60 included).
    package init?(
        date: CivilDate, hour: Int = 0, minute: Int = 0, second: Int = 0, microsecond: Int = 0
    ) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<1_000_000).contains(microsecond)
        else { return nil }
        self.date = date
        (self.hour, self.minute, self.second) = (hour, minute, second)
        self.microsecond = microsecond
    }

    /// The reading of a clock that counts seconds since 1970-01-01T00:00:00 on that same clock.
    ///
    /// `microsecond` is from 0 to 999 999.
    init(secondsSinceEpoch: Int64, microsecond: Int = 0) {
        date = CivilDate(daysSinceEpoch: Int(secondsSinceEpoch.floored(dividingBy: 86_400)))
        let secondOfDay = Int(secondsSinceEpoch.remainder(flooredBy: 86_400))
        hour = secondOfDay / 3_600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
        self.microsecond = microsecond
    }

    /// Seconds since 1970-01-01T00:00:00 on the same clock, whatever its zone.
    var secondsSinceEpoch: Int64 {
        Int64(date.daysSinceEpoch) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }
}

extension CivilDateTime: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.secondsSinceEpoch, left.microsecond) < (right.secondsSinceEpoch, right.microsecond)
    }
}

extension CivilDateTime: CustomStringConvertible {
    /// `2027-03-31T08:00:00`, with six digits of fraction where there is one.
    package var description: String {
        microsecond == 0 ? wholeSeconds : "\(wholeSeconds).\(microsecond.padded(to: 6))"
    }

    /// The description without the fraction.
    var wholeSeconds: String {
        "\(date)T\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))"
    }
}
