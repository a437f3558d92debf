package import CivilTime
package import Decision

/// The status of a unit, as systemd's answers and signals have it.
package struct UnitStatus: Hashable, Sendable {
    package var active: ActiveState
    /// Whether a job is queued or running for it: it is on its way elsewhere.
    package var hasJob: Bool
    package var since: Instant?
    /// Whether systemd has a unit file of it; nil if the message did not tell.
    package var load: UnitLoad?

    package init(_ active: ActiveState, hasJob: Bool = false) {
        self.active = active
        self.hasJob = hasJob
    }

    /// Whether nothing is about to change by itself.
    package var isAtRest: Bool { active != .activating && active != .deactivating && !hasJob }
    /// Whether it is down and stays so.
    package var isAtRestDown: Bool { active.isDown && !hasJob }
    /// Whether it is up and stays so.
    package var isAtRestUp: Bool { (active == .active || active == .reloading) && !hasJob }
}

/// `ActiveState` of org.freedesktop.systemd1(5).
package enum ActiveState: String, CaseIterable, Sendable {
    case active, reloading, inactive, failed, activating, deactivating, maintenance

    /// Nothing of it runs. A unit that was stopped in the middle of its start ends as `failed`.
    package var isDown: Bool { self == .inactive || self == .failed }
}

/// A unit as all its properties were read at one moment. The time stamps are by systemd's own clock.
package struct UnitSnapshot: Hashable, Sendable {
    package var seen: UnitStatus
    /// The word for how its last run ended, such as `success`, `exit-code`, `timeout`.
    package var result: String?
    /// Whether an assertion of the unit, such as `AssertPathExists=`, has refused its last start.
    package var isStartRefused = false
    /// Whether a condition of the unit, such as `ConditionPathExists=`, was not met at its last start: systemd has
    /// started nothing then, and calls that a success.
    package var isConditionUnmet = false
    package var downSince: Uptime?
    /// When it last began to be anything but down.
    package var leftDown: Uptime?
    package var upSince: Uptime?
    /// Whether it is down after its work, `Type=oneshot` without `RemainAfterExit=`: that is how it should be.
    package var isOneshot = false
    /// Whether systemd leaves processes of it alone when it stops the unit.
    package var leavesProcesses = false
    /// How long systemd lets it stop; nil if that is for ever, or if its type has no such limit.
    package var stopLimit: Duration?
    /// How long systemd lets it start, likewise.
    package var startLimit: Duration?
    /// The triggers that start it: sockets, timers, path units.
    package var triggeredBy: [UnitName] = []
    /// The units that systemd stops when it stops this unit.
    package var stopsWith: [UnitName] = []
    /// The units that it stops by `PropagatesStopTo=`, or that have `Requisite=` on it: the attached units, if it is a
    /// gate.
    package var tied: [UnitName] = []
    /// Those of them with `Requisite=` on it.
    package var requisiteOf: [UnitName] = []
    /// The services without whose marker `open` an assertion refuses its start; nil if that is not known.
    package var refusingServices: Set<ServiceName>?
    /// The units that it wants: those that it starts.
    package var wants: [UnitName] = []

    package init(_ seen: UnitStatus) { self.seen = seen }
}
