import CivilTime

extension GateMachine {
    /// The bus is there: everything is compared anew, for signals were missed.
    mutating func takeList(_ loaded: [UnitName: Seen], _ batch: inout GateBatch) {
        if lossSaid != nil {
            lossSaid = nil
            batch.notices.append(.busRecovered)
        }
        failures = 0
        if link != .up { forgetFollowed() }
        link = .up
        for service in configured { expect(service) }
        for target in targets.keys {
            targets[target]?.seen = target.unit.flatMap { loaded[$0] } ?? Seen(.inactive)
        }
        for (unit, seen) in loaded {
            if let target = GateTarget(unit) { targets[target, default: TargetState()].seen = seen }
        }
        for target in targets.keys.sorted() where isWorthReading(target, loaded) {
            batch.read(target.unit)
        }
        for unit in units.keys.sorted() { batch.read(unit) }
        batch.services.formUnion(services.keys)
    }

    /// The two that units are attached to most, and any other that something has loaded.
    private func isWorthReading(_ target: GateTarget, _ loaded: [UnitName: Seen]) -> Bool {
        target.kind == .open || target.kind == .closed
            || target.unit.map { loaded[$0] != nil } ?? false
    }

    /// No gate is moved until the bus is back, and everything is compared anew then.
    mutating func lose(_ problem: String, at now: Boottime, _ batch: inout GateBatch) {
        if case .lost = link { return }
        if lossSaid == nil { batch.notices.append(.busLost(problem: problem)) }
        lossSaid = problem
        link = .lost(retryAt: now + Self.backOff(failures))
        failures += 1
        isAsking = false
        shutdown = .no
        for service in services.keys {
            services[service]?.phase = .waiting
            services[service]?.alarm = nil
            services[service]?.heardBy = nil
        }
        for target in targets.keys { targets[target]?.calls = 0 }
    }

    /// Everything that waited to know whether the system is stopping goes on, or is left alone.
    mutating func take(isStopping: Bool, at now: Boottime, _ batch: inout GateBatch) {
        isAsking = false
        guard !isStopping else {
            shutdown = .stopping(askAgainAt: now + .seconds(5))
            for service in services.keys {
                services[service]?.phase = .waiting
                services[service]?.alarm = nil
            }
            return
        }
        shutdown = .no
        for (name, service) in services.sorted(by: { $0.key < $1.key }) {
            if let alarm = service.alarm { say(alarm, of: name, &batch) }
            switch service.phase {
            case .suspect: answerSuspicion(of: name, at: now, &batch)
            case .moving(let transit): if transit.isRetryDue { retry(name, at: now, &batch) }
            case .waiting: batch.services.insert(name)
            case .following, .settled: break
            }
        }
    }

    private mutating func say(
        _ alarm: ServiceGate.Alarm, of name: ServiceName, _ batch: inout GateBatch
    ) {
        services[name]?.alarm = nil
        guard services[name]?.isAlarmSaid == false else { return }
        services[name]?.isAlarmSaid = true
        batch.notices.append(.moveFailed(name, alarm.move, problem: alarm.problem))
    }

    /// Puts a gate back that somebody else has moved, or finds it in its place again.
    private mutating func answerSuspicion(
        of name: ServiceName, at now: Boottime, _ batch: inout GateBatch
    ) {
        services[name]?.phase = .settled
        guard deviates(name), let stand = services[name]?.stand else { return }
        let last = services[name]?.putBackAt
        let isAgain = last.map { now - $0 < .seconds(60) } ?? false
        let count = isAgain ? (services[name]?.putBacks ?? 0) + 1 : 1
        services[name]?.putBacks = count
        services[name]?.putBackAt = now
        // Two who pull at one gate: the journal need not hear of every pull, nor systemd.
        if count <= 3 {
            batch.notices.append(.movedElsewhere(name, stand))
            begin(name, at: now, &batch)
        } else {
            services[name]?.phase = .moving(
                Transit(began: now, retryAt: now + Self.backOff(count - 3)))
        }
    }
}
