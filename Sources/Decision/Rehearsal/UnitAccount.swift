package import CivilTime

/// Everything that a rehearsal asks of a unit: how it stands, and by systemd's own clock when it came
/// there.
package struct UnitAccount: Hashable, Sendable {
    package var seen: Seen
    /// The word for how its last run ended, such as `success`, `exit-code`, `timeout`.
    package var result: String?
    /// When it last came down, in whatever way.
    package var downSince: Uptime?
    /// When it last began to be anything but down.
    package var leftDown: Uptime?
    /// When it last came up.
    package var upSince: Uptime?
    /// How long systemd lets it stop, and start; nil is for ever, or not known of its type.
    package var stopLimit: Duration?
    package var startLimit: Duration?
    /// What starts it when something happens: sockets, timers, path units.
    package var triggeredBy: [UnitName] = []
    /// What systemd stops when it stops this.
    package var stopsWith: [UnitName] = []
    /// The units that have `Requisite=` on it: attached ones, where it is a gate.
    package var requisiteOf: [UnitName] = []
    /// The units that it wants: those which it starts.
    package var wants: [UnitName] = []

    package init(_ seen: Seen, result: String? = nil) {
        self.seen = seen
        self.result = result
    }
}

extension Seen {
    /// Whether nothing is about to change by itself.
    var isAtRest: Bool {
        switch active {
        case .active, .reloading, .inactive, .failed, .maintenance: !hasJob
        case .activating, .deactivating: false
        }
    }

    var isAtRestDown: Bool { active.isDown && !hasJob }
    var isAtRestUp: Bool { (active == .active || active == .reloading) && !hasJob }
}
