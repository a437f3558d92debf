/// How far a clock is ahead of UTC, in seconds east of Greenwich.
package struct UTCOffset: Hashable, Sendable {
    package let seconds: Int

    package static let zero = UTCOffset(inRange: 0)

    /// What RFC 9636 §3.2 and a POSIX TZ string can say: -24:59:59 and, an hour of daylight saving
    /// on top, 25:59:59.
    static let range = -89_999...93_599

    /// The offset of so many seconds, or nil outside `range`.
    init?(seconds: Int) {
        guard Self.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    private init(inRange seconds: Int) { self.seconds = seconds }
}

extension UTCOffset: CustomStringConvertible {
    /// `+09:00`, `-03:30`; with seconds only where there are some: `-00:44:30`.
    package var description: String {
        let magnitude = Int(seconds.magnitude)
        let fields = [magnitude / 3_600, magnitude / 60 % 60, magnitude % 60]
        let shown = fields.dropLast(fields[2] == 0 ? 1 : 0).map { $0.padded(to: 2) }
        return (seconds < 0 ? "-" : "+") + shown.joined(separator: ":")
    }
}

/// An offset, and the second (since 1970-01-01T00:00:00Z) up to which it is known to hold.
///
/// The offset may well hold longer: the end is where one has to look again.
struct OffsetSpan: Hashable {
    let offset: UTCOffset
    let end: Int64
}
