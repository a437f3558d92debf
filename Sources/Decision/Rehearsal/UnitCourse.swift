package import CivilTime

/// What was seen of a unit during a drill.
package struct UnitCourse: Hashable, Sendable {
    /// How it stood when the drill had the gate opened again.
    package var closed: UnitAccount?
    /// How it stood at the end.
    package var ended: UnitAccount?
    /// What came of a start by hand behind the closed gate; nil where none was tried.
    package var handStart: HandStart?
    /// What the daemon said was wrong with it.
    package var complaint: String?

    package init() {}
}

/// What came of a start by hand.
package enum HandStart: Hashable, Sendable {
    case refused
    case accepted
    /// The job ended with this word, which is neither.
    case unclear(String)
}

/// When a drill did what.
package struct RehearsalTimes: Hashable, Sendable {
    /// The order to close was given.
    package var ordered: Uptime
    /// The gate was to open again; nil where that never was.
    package var reopened: Uptime?
    /// The longest that the gate was to stay closed.
    package var limit: Duration
    /// Whether everything was down before the gate was opened again, so that starts could be tried.
    package var wasAllDown = false
    /// Whether the drill was broken off: what it did not get to is not to be blamed.
    package var wasInterrupted = false

    package init(ordered: Uptime, limit: Duration) {
        self.ordered = ordered
        self.limit = limit
    }
}
