import CivilTime
import Decision
import Drills
import Gates
import Testing

/// Units as a test tells of them, for a drill of `shop`.
struct StandInSystemd {
    var units: [String: UnitSnapshot] = [:]

    /// Attaches a unit to a target of the shop.
    mutating func attach(
        _ unit: String, to kind: GateTarget.Kind, of service: String = "shop",
        isStarted: Bool = true, _ active: ActiveState = .active
    ) throws {
        let target = try #require(GateTarget(service: named(service), kind: kind).unit).text
        var snapshot =
            units[target] ?? UnitSnapshot(UnitStatus(kind == .open ? .active : .inactive))
        snapshot.requisiteOf.append(try name(unit))
        if isStarted { snapshot.wants.append(try name(unit)) }
        units[target] = snapshot
        if units[unit] == nil { units[unit] = UnitSnapshot(UnitStatus(active)) }
    }

    /// A unit that systemd stops when it stops another one.
    mutating func add(
        _ unit: String, dependingOn other: String, _ active: ActiveState = .active
    ) throws {
        units[other]?.stopsWith.append(try name(unit))
        if units[unit] == nil { units[unit] = UnitSnapshot(UnitStatus(active)) }
    }

    func plan(
        from stand: DesiredGate = DesiredGate(gate: .open, state: .running),
        to state: State = .maintenance
    ) throws -> DrillPlan {
        try DrillPlan(of: named("shop"), from: stand, to: state) { unit in
            units[unit.text] ?? UnitSnapshot(UnitStatus(.inactive))
        }
    }
}

func name(_ text: String) throws -> UnitName { try #require(UnitName(text)) }

extension DrillPlan {
    /// A line for each unit: its name, what it is, and whether the gate starts it.
    var lines: [String] {
        units.map { unit in
            let kind =
                switch unit.kind {
                case .attached: "attached"
                case .dependent(let other): "on \(other)"
                case .state: "state"
                }
            return "\(unit.name) \(kind)\(unit.isStarted ? " started" : "")"
        }
    }
}
