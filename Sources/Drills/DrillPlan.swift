import CivilTime
package import Decision
package import Gates

/// The units of a drill: the attached ones, those that stop with them, and those of the forced state.
package struct DrillPlan: Hashable, Sendable {
    package let service: ServiceName
    package let state: State
    /// Attached units first, then their dependents, then the units of the forced state.
    package let units: [DrilledUnit]
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
        var attachments: [UnitName: Holders] = [:]
        var openTarget = (name: UnitName?.none, before: UnitSnapshot(UnitStatus(.inactive)))
        let forced = DesiredGate(gate: .closed, state: state, variant: stand.variant)
        let (opened, closed) = (stand.targets(of: service), forced.targets(of: service))
        let fixed = GateTarget.fixed(of: service)
        for target in fixed + opened.filter({ !fixed.contains($0) }) {
            guard let unit = target.unit else { continue }
            let snapshot = try describe(unit)
            if target.kind == .open { openTarget = (unit, snapshot) }
            for unit in snapshot.tied {
                attachments[unit, default: [:]][target] = snapshot.wants.contains(unit)
            }
        }
        self.openTarget = openTarget.name
        openTargetBefore = openTarget.before
        closedTargets = closed.compactMap(\.unit)
        var units: [DrilledUnit] = []
        for (unit, holders) in attachments.sorted(by: { $0.key < $1.key }) {
            guard let kind = Self.kind(holders, opened, closed) else { continue }
            let starters = kind == .attached ? opened : closed
            units.append(
                DrilledUnit(
                    name: unit, kind: kind, isStarted: starters.contains { holders[$0] == true },
                    before: try describe(unit)))
        }
        let attached = units.filter { $0.kind == .attached }
        let dependents = try Self.dependents(of: attached, beside: attachments.keys, describe)
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

    /// Whether the targets of the closed gate are active too, and the units of the forced state settled.
    package func isClosed(_ seen: [UnitName: UnitStatus]) -> Bool {
        isAllDown(seen) && closedTargets.allSatisfy { seen[$0]?.isAtRestUp ?? false }
            && units.allSatisfy { $0.kind != .state || seen[$0.name]?.isAtRest ?? true }
    }

    /// Whether the target of the open gate is active.
    package func isOpen(_ seen: [UnitName: UnitStatus]) -> Bool {
        openTarget.flatMap { seen[$0] }?.isAtRestUp ?? false
    }

    /// The targets that a unit stops with, and whether each has `Wants=` on the unit.
    private typealias Holders = [GateTarget: Bool]

    /// The kind of a unit; nil if the drill does not move it.
    private static func kind(
        _ holders: Holders, _ opened: [GateTarget], _ closed: [GateTarget]
    ) -> DrilledUnit.Kind? {
        let held = Set(holders.keys)
        return switch (held.isSubset(of: opened), held.isSubset(of: closed)) {
        case (true, false): .attached
        case (false, true): .state
        case (true, true), (false, false): nil
        }
    }

    /// The dependents of these units that are up, and the dependents of those.
    private static func dependents(
        of attached: [DrilledUnit], beside known: some Sequence<UnitName>,
        _ describe: (UnitName) throws -> UnitSnapshot
    ) throws -> [DrilledUnit] {
        var found: [DrilledUnit] = []
        var seen = Set(known)
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

/// The progress lines of a wait: none in the first second, then the awaited units whenever they change.
struct DrillProgress: Hashable, Sendable {
    private let since: Boottime
    private var printed: [String] = []
    private var printedAt: Boottime

    init(since: Boottime) {
        self.since = since
        printedAt = since
    }

    /// Which units are awaited; nil if no line is due.
    mutating func line(
        _ units: [DrilledUnit], _ seen: [UnitName: UnitStatus], at now: Boottime
    ) -> String? {
        let awaited = units.map { unit in
            "\(unit.name) (\(seen[unit.name]?.active.rawValue ?? "not loaded"))"
        }
        guard !awaited.isEmpty, awaited != printed, now - printedAt >= .seconds(1) else {
            return nil
        }
        printed = awaited
        printedAt = now
        let list = Array(awaited.prefix(6)).andMore(of: awaited.count).joined(separator: ", ")
        return "after \((now - since).wholeSeconds) s waiting for \(list)"
    }
}
