import CivilTime

extension Duration {
    /// The units of durations in milliseconds, the largest first, and from which count on each is
    /// used for writing: one minute is `60s`, one day `24h`, as people say it.
    private static var units: [(unit: String, milliseconds: Int64, from: Int64)] {
        [
            ("d", 86_400_000, 2), ("h", 3_600_000, 1), ("m", 60_000, 2), ("s", 1_000, 0),
            ("ms", 1, 0),
        ]
    }

    /// Reads a whole number and a unit: `500ms`, `30s`, `5m`, `24h`, `7d`; nil for anything else.
    /// One too long for the machine is the longest.
    package init?(text: String) {
        guard let quantity = Quantity(text),
            let unit = Self.units.first(where: { $0.unit.hasSameBytes(as: quantity.unit) })
        else { return nil }
        self = .milliseconds(quantity.times(unit.milliseconds))
    }

    /// The shortest text that `init(text:)` reads as this duration. Less than a millisecond is lost.
    package var text: String {
        let milliseconds = microseconds / 1_000
        let fitting = Self.units.first {
            milliseconds % $0.milliseconds == 0 && milliseconds / $0.milliseconds >= $0.from
        }
        guard let fitting else { return "\(milliseconds)ms" }
        return "\(milliseconds / fitting.milliseconds)\(fitting.unit)"
    }
}
