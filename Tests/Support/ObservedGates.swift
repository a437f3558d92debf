import CivilTime
import Decision
package import Gates

/// The gate of the service `shop` and its units, as systemd moves them in a test. Times are seconds since the start.
package struct ObservedGates {
    package private(set) var machine = GateMachine(services: [shop])
    private static let shop: ServiceName = "shop"

    package init() {}

    package mutating func at(_ seconds: Double, _ event: GateEvent) {
        let now = Boottime(microseconds: 1_000_000_000 + Int64(seconds * 1_000_000))
        _ = machine.handle(event, at: now)
    }

    private func unit(_ kind: GateTarget.Kind) throws -> UnitName {
        guard let unit = target(kind).unit else { throw TestFailure("no unit of \(kind)") }
        return unit
    }

    private func target(_ kind: GateTarget.Kind) -> GateTarget {
        GateTarget(service: Self.shop, kind: kind)
    }

    /// The gate is open, and these units run behind it.
    package mutating func open(_ units: String...) throws {
        let (open, closed) = (try unit(.open), try unit(.closed))
        let names = try units.map { try unitName($0) }
        at(0, .started)
        at(0, .targetsListed([open: UnitStatus(.active)]))
        at(0, .decided(Self.shop, DesiredGate(gate: .open, state: .running)))
        var snapshot = UnitSnapshot(UnitStatus(.active))
        snapshot.tied = names
        snapshot.wants = names
        at(0, .unitRead(open, snapshot))
        at(0, .unitRead(closed, UnitSnapshot(UnitStatus(.inactive))))
        for name in names {
            var snapshot = UnitSnapshot(UnitStatus(.active))
            snapshot.stopLimit = .seconds(10)
            at(0, .unitRead(name, snapshot))
        }
        // Changes of units are published five times a second.
        at(0.5, .woke)
    }

    /// It is decided that the gate closes, and systemd has taken the order.
    package mutating func close() throws {
        at(1, .decided(Self.shop, DesiredGate(gate: .closed, state: .maintenance)))
        for kind in [GateTarget.Kind.closed, .maintenance] {
            at(1, .jobAnswered(.start(target(kind)), problem: nil))
        }
    }

    /// systemd shows the gate closed, in front of these units.
    package mutating func confirmClosed(at time: Double, _ units: String...) throws {
        let (open, closed) = (try unit(.open), try unit(.closed))
        let maintenance = try unit(.maintenance)
        let names = try units.map { try unitName($0) }
        at(time, .unitChanged(open, UnitStatus(.inactive)))
        at(time, .unitChanged(closed, UnitStatus(.active)))
        at(time, .unitChanged(maintenance, UnitStatus(.active)))
        var snapshot = UnitSnapshot(UnitStatus(.inactive))
        snapshot.tied = names
        snapshot.wants = names
        at(time, .unitRead(open, snapshot))
        at(time, .unitRead(closed, UnitSnapshot(UnitStatus(.active))))
        at(time, .unitRead(maintenance, UnitSnapshot(UnitStatus(.active))))
    }
}
