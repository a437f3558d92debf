import CivilTime

/// What is said while a drill waits: nothing in the first second, then who is waited for, when that has
/// changed.
struct DrillPatience {
    private let since: Boottime
    private var said: [String] = []
    private var saidAt: Boottime

    init(since: Boottime) {
        self.since = since
        saidAt = since
    }

    /// The line that is due, if one is.
    mutating func line(_ awaited: [String], at now: Boottime) -> String? {
        guard !awaited.isEmpty, awaited != said, now - saidAt >= .seconds(1) else { return nil }
        said = awaited
        saidAt = now
        let shown = awaited.prefix(Self.shown)
        let more = awaited.count > shown.count ? ["\(awaited.count - shown.count) more"] : []
        return "after \((now - since).wholeSeconds) s waiting for "
            + (shown + more).joined(separator: ", ")
    }

    private static let shown = 6
}
