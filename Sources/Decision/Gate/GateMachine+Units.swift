import CivilTime

extension GateMachine {
    /// The targets of a service are known from now on.
    mutating func expect(_ name: ServiceName) {
        for kind in GateTarget.fixed {
            let target = GateTarget(service: name, kind: kind)
            if targets[target] == nil { targets[target] = TargetState() }
        }
    }

    /// The units that are attached to any target of a service.
    func attached(to name: ServiceName) -> Set<UnitName> {
        Set(units.filter { $0.value.holders.contains { $0.service == name } }.keys)
    }

    /// A signal tells how a unit stands.
    mutating func see(_ unit: UnitName, _ seen: Seen, _ batch: inout GateBatch) {
        if let target = GateTarget(unit) {
            targets[target, default: TargetState()].seen = seen
            batch.services.insert(target.service)
        } else if units[unit] != nil {
            let isNew = units[unit]?.seen?.active != seen.active
            units[unit]?.seen = seen
            if isNew, seen.active == .failed {
                units[unit]?.result = nil
                batch.read(unit)
            }
            touch(unit, &batch)
        }
    }

    /// Everything about a unit was asked for. One that could not be read stays as it was known.
    mutating func take(_ facts: UnitFacts?, of unit: UnitName, _ batch: inout GateBatch) {
        if let target = GateTarget(unit) {
            services[target.service]?.updateTransit { $0.unread.remove(target) }
            batch.services.insert(target.service)
            guard let facts else { return }
            targets[target, default: TargetState()].seen = facts.seen
            attach(facts, to: target, &batch)
        } else if units[unit] != nil {
            if let facts {
                units[unit]?.seen = facts.seen
                units[unit]?.result = facts.result
                units[unit]?.stopLimit = facts.stopLimit
            }
            for service in holdingServices(unit) {
                services[service]?.updateTransit { $0.fresh.insert(unit) }
            }
            touch(unit, &batch)
        }
    }

    private mutating func attach(
        _ facts: UnitFacts, to target: GateTarget, _ batch: inout GateBatch
    ) {
        let before = targets[target]?.requisiteOf ?? []
        let after = Set(facts.requisiteOf)
        let wants = Set(facts.wants)
        targets[target]?.isRead = true
        targets[target]?.requisiteOf = after
        targets[target]?.wants = wants
        for unit in before.subtracting(after) {
            units[unit]?.holders.remove(target)
            units[unit]?.starters.remove(target)
            if units[unit]?.holders.isEmpty == true {
                units[unit] = nil
                for service in services.keys {
                    services[service]?.updateTransit { $0.awaited.remove(unit) }
                }
            }
        }
        for unit in after.sorted() {
            if units[unit] == nil {
                units[unit] = AttachedUnit()
                batch.read(unit)
                services[target.service]?.updateTransit { $0.awaited.insert(unit) }
            }
            units[unit]?.holders.insert(target)
            if wants.contains(unit) {
                units[unit]?.starters.insert(target)
            } else {
                units[unit]?.starters.remove(target)
            }
            touch(unit, &batch)
        }
        sayOrphans(of: target.service, &batch)
    }

    /// Names the units of a service that nobody decides about, once.
    mutating func sayOrphans(of name: ServiceName, _ batch: inout GateBatch) {
        let orphans = attached(to: name)
        guard !configured.contains(name), !orphans.isEmpty, orphansSaid.insert(name).inserted
        else { return }
        batch.notices.append(.orphaned(name, orphans.sorted()))
    }

    private func touch(_ unit: UnitName, _ batch: inout GateBatch) {
        batch.units.insert(unit)
        batch.services.formUnion(holdingServices(unit))
    }

    func holdingServices(_ unit: UnitName) -> Set<ServiceName> {
        Set((units[unit]?.holders ?? []).map(\.service))
    }

    /// What all gates of a unit together want of it.
    func judgement(on unit: AttachedUnit) -> Judgement {
        var isDecided = true
        for target in unit.holders {
            guard let stand = services[target.service]?.stand else {
                isDecided = false
                continue
            }
            if !stand.targets(of: target.service).contains(target) { return .mustStop }
        }
        return isDecided ? .mayRun : .open
    }

    /// Whether a move of this gate will have something to do with a unit.
    func mustChange(_ name: UnitName, isMidway: Bool) -> Bool {
        guard let unit = units[name] else { return false }
        switch judgement(on: unit) {
        case .mustStop: return !unit.isDown
        case .mayRun: return (unit.isDown || isMidway) && !unit.starters.isEmpty
        case .open: return false
        }
    }

    /// The targets stand: asks what that has done to units, some of which may be new to us.
    mutating func beginFollowing(
        _ name: ServiceName, _ transit: Transit, at now: Boottime, _ batch: inout GateBatch
    ) {
        var transit = transit
        transit.fresh = []
        transit.unread = Set(
            targets.keys.filter { target in
                target.service == name && target.unit != nil
                    && (target.kind == .open || target.kind == .closed || !isDown(target))
            })
        for target in transit.unread.sorted() { batch.read(target.unit) }
        for unit in transit.awaited.sorted()
        where units[unit].map({ judgement(on: $0) }) == .mayRun {
            batch.read(unit)
        }
        services[name]?.phase = .following(transit)
    }

    private func isDown(_ target: GateTarget) -> Bool {
        targets[target]?.seen.active.isDown ?? true
    }
}
