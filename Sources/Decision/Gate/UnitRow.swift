/// An attached unit as it is published in `units.json`.
package struct UnitRow: Hashable, Sendable {
    /// Its full name.
    package let name: UnitName
    /// Whether it should run; nil if the gate does not start it, or its service is undecided.
    package let isWanted: Bool?
    /// Nil until systemd has told.
    package let seen: UnitStatus?
    /// How long its last stop or start took, counted from the move of the gate.
    package let took: Duration?
    /// Its problem as a clause.
    package let problem: String?
}

/// The permission of all gates of a unit together.
enum UnitPermission: Hashable, Sendable {
    case mayRun
    case mustStop
    /// Some of its services are undecided, and no decided service forbids it.
    case undecided
}
