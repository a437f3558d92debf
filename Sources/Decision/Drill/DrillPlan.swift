/// The units of a drill, found before the gate moves: the attached units, the units that stop with
/// them, and the units of the forced state.
package struct DrillPlan: Hashable, Sendable {
    /// The service whose gate is closed.
    package let service: ServiceName
    /// The state that is forced.
    package let state: State
    /// Attached units first, then their dependents, then the units of the forced state.
    package let units: [DrilledUnit]
    /// The target of the open gate.
    package let openTarget: UnitName?
    /// How that target stood before the drill.
    package let openTargetBefore: UnitSnapshot
    /// The targets that are active while the gate is closed.
    package let closedTargets: [UnitName]

    /// `stand` is the present decision; `describe` asks systemd about a unit.
    package init(
        of service: ServiceName, from stand: DesiredGate, to state: State,
        describe: (UnitName) throws -> UnitSnapshot
    ) throws {
        self.service = service
        self.state = state
        var holders = Holders()
        var openTarget = (name: UnitName?.none, before: UnitSnapshot(UnitStatus(.inactive)))
        let forced = DesiredGate(gate: .closed, state: state, variant: stand.variant)
        let (opened, closed) = (stand.targets(of: service), forced.targets(of: service))
        let known = GateTarget.fixed.map { GateTarget(service: service, kind: $0) }
        for target in known + opened where holders.targets.insert(target).inserted {
            guard let unit = target.unit else { continue }
            let snapshot = try describe(unit)
            if target.kind == .open { openTarget = (unit, snapshot) }
            holders.add(target, snapshot)
        }
        self.openTarget = openTarget.name
        openTargetBefore = openTarget.before
        closedTargets = closed.compactMap(\.unit)
        var units: [DrilledUnit] = []
        for (unit, held) in holders.units.sorted(by: { $0.key < $1.key }) {
            guard let (kind, starters) = Self.role(of: held, opened, closed) else { continue }
            units.append(
                DrilledUnit(
                    name: unit, kind: kind, isStarted: !held.starters.isDisjoint(with: starters),
                    before: try describe(unit)))
        }
        let attached = units.filter { $0.kind == .attached }
        let dependents = try Self.dependents(of: attached, beside: holders, describe)
        self.units = attached + dependents + units.filter { $0.kind == .state }
    }

    /// The units that run while the gate is open, and must be down while it is closed.
    package var attached: [DrilledUnit] { units.filter { $0.kind == .attached } }

    /// The units and targets that show how far the drill is.
    package var followed: [UnitName] {
        units.map(\.name) + closedTargets + [openTarget].compactMap(\.self)
    }

    /// Whether the gate has closed and the closing waits for no unit.
    package func isAllDown(_ seen: [UnitName: UnitStatus]) -> Bool {
        guard let openTarget, let gate = seen[openTarget] else { return false }
        return gate.isAtRestDown && units.allSatisfy { $0.hasStopped(seen[$0.name]) }
    }

    /// Whether the targets of the closed gate are active too, and the units of the forced state
    /// settled.
    package func isClosed(_ seen: [UnitName: UnitStatus]) -> Bool {
        isAllDown(seen) && closedTargets.allSatisfy { seen[$0]?.isAtRestUp ?? false }
            && units.allSatisfy { $0.kind != .state || seen[$0.name]?.isAtRest ?? true }
    }

    /// Whether the target of the open gate is active.
    package func isOpen(_ seen: [UnitName: UnitStatus]) -> Bool {
        openTarget.flatMap { seen[$0] }?.isAtRestUp ?? false
    }

    /// The kind of a unit, and the targets that may start it; nil if the drill does not move it.
    private static func role(
        of held: Holders.Held, _ opened: [GateTarget], _ closed: [GateTarget]
    ) -> (DrilledUnit.Kind, starters: [GateTarget])? {
        switch (held.by.isSubset(of: opened), held.by.isSubset(of: closed)) {
        case (true, false): (.attached, opened)
        case (false, true): (.state, closed)
        case (true, true), (false, false): nil
        }
    }

    /// The dependents of these units that are up, and the dependents of those.
    private static func dependents(
        of attached: [DrilledUnit], beside holders: Holders,
        _ describe: (UnitName) throws -> UnitSnapshot
    ) throws -> [DrilledUnit] {
        var found: [DrilledUnit] = []
        var seen = Set(holders.units.keys)
        var queue = attached.filter(\.wasUp)
        while !queue.isEmpty {
            let unit = queue.removeFirst()
            for name in unit.before.stopsWith.sorted()
            where GateTarget(name) == nil && seen.insert(name).inserted {
                let dependent = DrilledUnit(
                    name: name, kind: .dependent(on: unit.name), isStarted: false,
                    before: try describe(name))
                guard dependent.wasUp else { continue }
                found.append(dependent)
                queue.append(dependent)
            }
        }
        return found
    }
}

/// The units that have `Requisite=` on targets of a service.
private struct Holders {
    struct Held {
        var by: Set<GateTarget> = []
        var starters: Set<GateTarget> = []
    }

    var targets: Set<GateTarget> = []
    private(set) var units: [UnitName: Held] = [:]

    mutating func add(_ target: GateTarget, _ snapshot: UnitSnapshot) {
        for unit in snapshot.requisiteOf {
            units[unit, default: Held()].by.insert(target)
            if snapshot.wants.contains(unit) { units[unit]?.starters.insert(target) }
        }
    }
}
