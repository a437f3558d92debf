import CivilTime

extension GateMachine {
    /// Holds a unit against what its gates want.
    mutating func judge(_ name: UnitName, at now: Boottime, _ batch: inout GateBatch) {
        guard let unit = units[name] else { return }
        switch judgement(on: unit) {
        case .mustStop:
            if unit.isDown {
                noteDown(name, unit, &batch)
            } else if let gate = closedGate(of: unit), unit.isAtRest {
                expel(name, unit, from: gate, at: now, &batch)
            } else {
                awaitStop(name, unit, at: now, &batch)
            }
        case .mayRun:
            units[name]?.stopBy = nil
            units[name]?.expulsions = 0
            noteRunning(name, unit, &batch)
        case .open:
            units[name]?.stopBy = nil
        }
        for service in holdingServices(name) { noteArrival(of: name, at: service, now) }
    }

    private mutating func noteDown(
        _ name: UnitName, _ unit: AttachedUnit, _ batch: inout GateBatch
    ) {
        // How it ended is asked for.
        if unit.seen?.active == .failed, unit.result == nil { return }
        units[name]?.expulsions = 0
        units[name]?.expelAt = nil
        units[name]?.stopBy = nil
        let wasKilled = unit.seen?.active == .failed && unit.result == "timeout"
        if wasKilled, unit.stopBy != nil {
            set(.killed, name, &batch)
        } else if unit.problem != .killed {
            units[name]?.problem = nil
        }
    }

    private mutating func noteRunning(
        _ name: UnitName, _ unit: AttachedUnit, _ batch: inout GateBatch
    ) {
        guard unit.seen?.active == .failed else {
            units[name]?.problem = nil
            return
        }
        guard let result = unit.result else { return }
        // Its gate has just opened: it is started again, and what it was before does not matter.
        guard !isAwaited(name) else { return }
        set(.failed(result: result), name, &batch)
    }

    private mutating func awaitStop(
        _ name: UnitName, _ unit: AttachedUnit, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard let limit = unit.stopBy else {
            units[name]?.stopBy = now + unit.limit + Self.leniency
            return
        }
        if limit <= now { set(.late(limit: unit.limit), name, &batch) }
    }

    /// A closed gate of a unit that has nothing under way any more; nil where there is none yet.
    private func closedGate(of unit: AttachedUnit) -> GateTarget? {
        unit.holders.sorted().first { target in
            guard let service = services[target.service], let stand = service.stand,
                let state = targets[target], link == .up, shutdown == .no,
                !stand.targets(of: target.service).contains(target)
            else { return false }
            switch service.phase {
            case .settled, .following:
                return state.seen.active.isDown && !state.seen.hasJob && state.calls == 0
            case .waiting, .moving, .suspect: return false
            }
        }
    }

    /// Stops a unit by stopping the target once more: that is all we may do, and systemd hands it on.
    private mutating func expel(
        _ name: UnitName, _ unit: AttachedUnit, from gate: GateTarget, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        if let moment = unit.expelAt, now < moment { return }
        units[name]?.expelAt = now + Self.backOff(unit.expulsions)
        units[name]?.expulsions += 1
        units[name]?.stopBy = now + unit.limit + Self.leniency
        if unit.problem != .intruding { set(.intruding, name, &batch) }
        if !batch.moves.contains(.stop(gate)) { send([.stop(gate)], &batch) }
    }

    /// A unit has a new trouble: said once, by each service that it belongs to.
    private mutating func set(
        _ problem: UnitProblem, _ name: UnitName, _ batch: inout GateBatch
    ) {
        guard units[name]?.problem != problem else { return }
        units[name]?.problem = problem
        guard let service = holdingServices(name).min() else { return }
        batch.notices.append(.unitTrouble(service, name, problem))
    }

    private func isAwaited(_ name: UnitName) -> Bool {
        holdingServices(name).contains {
            guard let transit = services[$0]?.transit else { return false }
            return transit.awaited.contains(name) && !transit.fresh.contains(name)
        }
    }

    /// Notes that a unit has come where the present move was to bring it.
    private mutating func noteArrival(
        of name: UnitName, at service: ServiceName, _ now: Boottime
    ) {
        guard let transit = services[service]?.transit, transit.awaited.contains(name),
            let unit = units[name]
        else { return }
        let hasArrived =
            switch judgement(on: unit) {
            case .mustStop: unit.isDown
            case .mayRun:
                unit.isAtRest
                    && (!unit.isDown && !transit.isMidway || transit.fresh.contains(name))
            case .open: true
            }
        guard hasArrived else { return }
        let took = now - transit.began
        units[name]?.took = took
        services[service]?.updateTransit {
            $0.awaited.remove(name)
            $0.took[name] = took
        }
    }

    /// What a unit may take beyond its limit before it is called late: systemd needs that to kill it.
    private static let leniency: Duration = .seconds(2)
}

extension AttachedUnit {
    /// When time alone may change how it is judged.
    var deadlines: [Boottime] {
        guard !isDown else { return [] }
        let stop: Boottime? = if case .late = problem { nil } else { stopBy }
        return [stop, problem == .intruding ? expelAt : nil].compactMap(\.self)
    }
}
