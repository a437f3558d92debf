package import CivilTime

/// A unit as a drill has read it: how it stands, and by systemd's own clock since when.
package struct UnitSnapshot: Hashable, Sendable {
    /// How it stands.
    package var seen: UnitStatus
    /// The word for how its last run ended, such as `success`, `exit-code`, `timeout`.
    package var result: String?
    /// When it last came down.
    package var downSince: Uptime?
    /// When it last began to be anything but down.
    package var leftDown: Uptime?
    /// When it last came up.
    package var upSince: Uptime?
    /// How long systemd lets it stop; nil if that is for ever, or if its type has no such limit.
    package var stopLimit: Duration?
    /// How long systemd lets it start, likewise.
    package var startLimit: Duration?
    /// The triggers that start it: sockets, timers, path units.
    package var triggeredBy: [UnitName] = []
    /// The units that systemd stops when it stops this unit.
    package var stopsWith: [UnitName] = []
    /// The units that have `Requisite=` on it: the attached units, if it is a gate.
    package var requisiteOf: [UnitName] = []
    /// The units that it wants: those that it starts.
    package var wants: [UnitName] = []

    /// A unit of which nothing else is known.
    package init(_ seen: UnitStatus, result: String? = nil) {
        self.seen = seen
        self.result = result
    }
}

extension UnitStatus {
    /// Whether nothing is about to change by itself.
    var isAtRest: Bool {
        switch active {
        case .active, .reloading, .inactive, .failed, .maintenance: !hasJob
        case .activating, .deactivating: false
        }
    }

    /// Whether it is down and stays so.
    var isAtRestDown: Bool { active.isDown && !hasJob }
    /// Whether it is up and stays so.
    var isAtRestUp: Bool { (active == .active || active == .reloading) && !hasJob }
}

/// The observations of a unit during a drill.
package struct UnitObservations: Hashable, Sendable {
    /// How it stood when the drill had the gate opened again.
    package var closed: UnitSnapshot?
    /// How it stood at the end.
    package var ended: UnitSnapshot?
    /// The result of a start by hand behind the closed gate; nil if none was tried.
    package var handStart: ManualStart?
    /// Its problem by `units.json`.
    package var reportedProblem: String?

    /// A unit of which nothing was seen.
    package init() {}
}

/// The result of a start by hand.
package enum ManualStart: Hashable, Sendable {
    case refused
    case accepted
    /// The job ended with this word, which is neither.
    case unclear(String)
}

/// The times of the steps of a drill.
package struct DrillTimes: Hashable, Sendable {
    /// The order to close was given.
    package var ordered: Uptime
    /// The gate was to open again; nil if it never was.
    package var reopened: Uptime?
    /// The longest that the gate was to stay closed.
    package var limit: Duration
    /// Whether everything was down before the gate was opened again, so that starts could be tried.
    package var wasAllDown = false
    /// Whether the drill was broken off: a unit that it did not get to has not failed.
    package var wasInterrupted = false

    /// The times of a drill that has given its order.
    package init(ordered: Uptime, limit: Duration) {
        self.ordered = ordered
        self.limit = limit
    }
}
