package import CivilTime

/// The status of a unit, as systemd's answers and signals have it.
package struct UnitStatus: Hashable, Sendable {
    /// Its `ActiveState`.
    package var active: ActiveState
    /// Whether a job is queued or running for it: it is on its way elsewhere.
    package var hasJob: Bool
    /// When it came into this state.
    package var since: Instant?

    /// A status; without a time if systemd has not told one.
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

/// The properties of a unit that the gates' machine reads.
package struct UnitProperties: Hashable, Sendable {
    /// How it stands.
    package var seen: UnitStatus
    /// The word for how its last run ended, such as `success`, `exit-code`, `timeout`.
    package var result: String?
    /// Whether an assertion of the unit, such as `AssertPathExists=`, has refused its last start.
    package var isStartRefused: Bool
    /// How long systemd lets it stop before it kills it; nil if that is for ever, or if its type
    /// has no such limit.
    package var stopLimit: Duration?
    /// The units that have `Requisite=` on it: the attached units, if it is a gate.
    package var requisiteOf: [UnitName]
    /// The units that it wants: those that it starts.
    package var wants: [UnitName]

    /// The properties; an argument that is left out is not known, or not set.
    package init(
        _ seen: UnitStatus, result: String? = nil, isStartRefused: Bool = false,
        stopLimit: Duration? = nil,
        requisiteOf: [UnitName] = [], wants: [UnitName] = []
    ) {
        self.seen = seen
        self.result = result
        self.isStartRefused = isStartRefused
        self.stopLimit = stopLimit
        self.requisiteOf = requisiteOf
        self.wants = wants
    }
}
