import Decision

/// The targets that a unit is attached to, and whether each permits it to run.
struct UnitHolders: Hashable, Sendable {
    private struct Holder: Hashable, Sendable {
        /// Whether the target has `Wants=` on the unit.
        var isStarter: Bool
        /// Nil while the service of the target is undecided.
        var mayRun: Bool?
    }

    /// The targets it has `Requisite=` on.
    private var holders: [GateTarget: Holder] = [:]

    /// The targets, in their order.
    var targets: [GateTarget] { holders.keys.sorted() }

    /// The services of the targets.
    var services: Set<ServiceName> { Set(holders.keys.map(\.service)) }

    /// Attaches the unit to a target. `mayRun` is nil while the service of the target is undecided.
    mutating func attach(to target: GateTarget, isStarter: Bool, mayRun: Bool?) {
        holders[target] = Holder(isStarter: isStarter, mayRun: mayRun)
    }

    /// Detaches the unit from a target. Returns whether it is attached to another.
    mutating func detach(from target: GateTarget) -> Bool {
        holders[target] = nil
        return !holders.isEmpty
    }

    /// A gate was decided, or is not decided about any more.
    mutating func updatePermission(by gate: GateState) {
        for target in holders.keys where target.service == gate.service {
            holders[target]?.mayRun = gate.permits(target)
        }
    }

    /// The permission of all gates together.
    var permission: UnitPermission {
        if holders.values.contains(where: { $0.mayRun == false }) { return .mustStop }
        return holders.values.allSatisfy { $0.mayRun == true } ? .mayRun : .undecided
    }

    /// Whether one of the gates starts the unit. If not, an administrator or another unit does.
    var isStarted: Bool { holders.values.contains(where: \.isStarter) }

    /// Whether the gate of this service starts the unit.
    func isStarted(by service: ServiceName) -> Bool {
        holders.contains { $0.key.service == service && $0.value.isStarter }
    }

    /// The targets by which the gate of a service starts the unit now.
    func starters(of service: ServiceName) -> [GateTarget] {
        holders.filter { target, holder in
            target.service == service && holder.isStarter && holder.mayRun == true
        }.map(\.key)
    }

    /// Whether the gate of this service forbids the unit.
    func isForbidden(by service: ServiceName) -> Bool {
        holders.contains { $0.key.service == service && $0.value.mayRun == false }
    }

    /// The other services that keep the unit down while this one permits it. An undecided service starts nothing, and
    /// stops nothing either.
    func keepers(from service: ServiceName, isUp: Bool) -> [ServiceName] {
        guard holders.allSatisfy({ $0.key.service != service || $0.value.mayRun == true }) else {
            return []
        }
        let others = holders.filter { target, holder in
            target.service != service
                && (holder.mayRun == false || holder.mayRun == nil && !isUp)
        }
        return Set(others.keys.map(\.service)).sorted()
    }
}

/// What the gates of one service are to a unit.
extension AttachedUnit {
    /// The other services that keep it down while this one permits it.
    func keepers(from service: ServiceName) -> [ServiceName] {
        holders.keepers(from: service, isUp: isUp)
    }

    /// Whether it is as a gate of this service wants it. Nil if the gate wants nothing of it: it only
    /// permits the unit, or the gate of another service forbids it.
    func isAsWanted(by service: ServiceName, _ gate: Gate) -> Bool? {
        switch gate {
        case .closed: holders.isForbidden(by: service) ? seen != nil && isDown : nil
        case .open: permission == .mayRun && holders.isStarted(by: service) ? isUp : nil
        }
    }

    /// Whether it is down already, for a gate of this service that will leave it these targets alone; nil if it may
    /// stay up then.
    func isDown(before service: ServiceName, leaves targets: [GateTarget]) -> Bool? {
        let mayStay = self.targets.allSatisfy {
            $0.service != service || !$0.isOfDecision || targets.contains($0)
        }
        return mayStay ? nil : seen != nil && isDown
    }
}
