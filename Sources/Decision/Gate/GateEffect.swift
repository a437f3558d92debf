package import CivilTime

/// What is to be done about gates, in this order.
package enum GateEffect: Hashable, Sendable {
    /// Open the bus and list our units: `listed` or `lost` follows.
    case connect
    /// List our units again.
    case list
    /// Hear of changes of exactly these units.
    case follow(Set<UnitName>)
    /// Ask for everything about a unit: `read` follows.
    case read(UnitName)
    /// Have systemd start or stop a target: `answered` follows.
    case move(Move)
    /// Ask whether the system is stopping: `systemState` follows.
    case askSystemState
    /// Write down how the attached units of a service stand.
    case publish(ServiceName, [UnitRow])
    case announce(GateNotice)
    /// Send `woke` then, instead of at the time asked for before; nil is never.
    case sleep(Boottime?)
}

/// One attached unit, as it is published.
package struct UnitRow: Hashable, Sendable {
    package var name: UnitName
    /// Whether it should run; nil where something else than the gate starts it, or nothing is decided.
    package var isWanted: Bool?
    /// Nil where systemd has not told yet.
    package var seen: Seen?
    /// How long its last stop or start took, counted from the move of the gate.
    package var took: Duration?
    package var problem: String?

    package init(
        name: UnitName, isWanted: Bool?, seen: Seen?, took: Duration? = nil, problem: String? = nil
    ) {
        self.name = name
        self.isWanted = isWanted
        self.seen = seen
        self.took = took
        self.problem = problem
    }
}
