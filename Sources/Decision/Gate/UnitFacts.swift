package import CivilTime

/// What systemd says of a unit at one moment, and in each of its signals.
package struct Seen: Hashable, Sendable {
    package var active: ActiveState
    /// Whether a job is queued or running for it: it is on its way elsewhere.
    package var hasJob: Bool
    /// When it came into this state.
    package var since: Instant?

    package init(_ active: ActiveState, hasJob: Bool = false, since: Instant? = nil) {
        self.active = active
        self.hasJob = hasJob
        self.since = since
    }
}

/// `ActiveState` of org.freedesktop.systemd1(5).
package enum ActiveState: String, CaseIterable, Sendable {
    case active
    case reloading
    case inactive
    case failed
    case activating
    case deactivating
    case maintenance

    /// Nothing of it runs. A unit that was stopped in the middle of its start ends as `failed`.
    package var isDown: Bool { self == .inactive || self == .failed }
}

/// Everything that is asked of a unit.
package struct UnitFacts: Hashable, Sendable {
    package var seen: Seen
    /// The word for how its last run ended, such as `success`, `exit-code`, `timeout`.
    package var result: String?
    /// How long systemd lets it stop before it kills it; nil is for ever, or not known of its type.
    package var stopLimit: Duration?
    /// The units that have `Requisite=` on it: attached ones, where it is a gate.
    package var requisiteOf: [UnitName]
    /// The units that it wants: those which it starts.
    package var wants: [UnitName]

    package init(
        _ seen: Seen, result: String? = nil, stopLimit: Duration? = nil,
        requisiteOf: [UnitName] = [], wants: [UnitName] = []
    ) {
        self.seen = seen
        self.result = result
        self.stopLimit = stopLimit
        self.requisiteOf = requisiteOf
        self.wants = wants
    }
}
