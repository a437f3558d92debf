import Decision

/// The targets that a unit is attached to, and what they permit.
extension AttachedUnit {
    /// A target that a unit is attached to.
    struct Holder: Hashable, Sendable {
        /// Whether the target has `Wants=` on the unit.
        let isStarter: Bool
        /// Whether the target permits the unit to run; nil while its service is undecided.
        var mayRun: Bool?
    }

    /// The targets, in their order.
    var targets: [GateTarget] { holders.keys.sorted() }

    /// The services of the targets.
    var services: Set<ServiceName> { Set(holders.keys.map(\.service)) }

    /// Detaches it from a target. Returns whether it is attached to another.
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

    /// The permission of all its gates together.
    var permission: UnitPermission {
        if holders.values.contains(where: { $0.mayRun == false }) { return .mustStop }
        return holders.values.allSatisfy { $0.mayRun == true } ? .mayRun : .undecided
    }

    /// Whether one of its gates starts it. If not, an administrator or another unit does.
    var isStarted: Bool { holders.values.contains(where: \.isStarter) }

    func isStarted(by service: ServiceName) -> Bool {
        holders.contains { $0.key.service == service && $0.value.isStarter }
    }

    /// The targets by which the gate of a service starts it now.
    func starters(of service: ServiceName) -> [GateTarget] {
        holders.filter { target, holder in
            target.service == service && holder.isStarter && holder.mayRun == true
        }.map(\.key)
    }

    /// The other services that keep it down while this one permits it. An undecided service changes nothing.
    func keepers(from service: ServiceName) -> [ServiceName] {
        guard holders.allSatisfy({ $0.key.service != service || $0.value.mayRun == true }) else {
            return []
        }
        let others = holders.filter { target, holder in
            target.service != service && (holder.mayRun == false || holder.mayRun == nil && !isUp)
        }
        return Set(others.keys.map(\.service)).sorted()
    }

    /// Whether it is as a gate of this service wants it; nil if the gate wants nothing, or another one forbids it.
    func isAsWanted(by service: ServiceName, _ gate: Gate) -> Bool? {
        switch gate {
        case .closed:
            holders.contains { $0.key.service == service && $0.value.mayRun == false }
                ? hasStopped : nil
        case .open: permission == .mayRun && isStarted(by: service) ? isUp : nil
        }
    }

    /// Whether it is down already, for a gate of this service that will leave it these targets alone; nil if it may
    /// stay up then.
    func isDown(before service: ServiceName, leaves targets: [GateTarget]) -> Bool? {
        let mayStay = self.targets.allSatisfy {
            $0.service != service || !$0.isOfDecision || targets.contains($0)
        }
        return mayStay ? nil : hasStopped
    }
}
