import CivilTime

extension GateMachine {
    /// A service was decided.
    mutating func decide(
        _ name: ServiceName, _ stand: Stand, at now: Boottime, _ batch: inout GateBatch
    ) {
        configured.insert(name)
        orphansSaid.remove(name)
        let before = services[name]
        guard before?.stand != stand else { return }
        if before == nil {
            services[name] = ServiceGate(heardBy: isReachable ? now + Self.patience : nil)
            if link == .up {
                expect(name)
                batch.read(GateTarget(service: name, kind: .open).unit)
                batch.read(GateTarget(service: name, kind: .closed).unit)
            }
        }
        services[name]?.stand = stand
        services[name]?.isAlarmSaid = false
        services[name]?.putBacks = 0
        for target in stand.targets(of: name) where targets[target] == nil {
            targets[target] = TargetState()
        }
        batch.units.formUnion(attached(to: name))
        let isMidway = if case .moving = before?.phase { true } else { false }
        begin(name, isMidway: isMidway, at: now, &batch)
    }

    /// A service is no longer configured: its gate stays where it is.
    mutating func withdraw(_ name: ServiceName, _ batch: inout GateBatch) {
        configured.remove(name)
        services[name] = nil
        batch.units.formUnion(attached(to: name))
        sayOrphans(of: name, &batch)
    }

    /// Asks for every move that is needed, if there is somebody to ask.
    ///
    /// `isMidway`: earlier moves are not confirmed, so that what was seen last tells nothing.
    mutating func begin(
        _ name: ServiceName, isMidway: Bool = false, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard link == .up, shutdown == .no, let stand = services[name]?.stand else {
            services[name]?.phase = .waiting
            return
        }
        let moves = neededMoves(to: stand, of: name, isMidway: isMidway)
        guard !moves.isEmpty else {
            services[name]?.heardBy = nil
            services[name]?.phase = .settled
            return
        }
        var transit = Transit(began: now, retryAt: now + .seconds(2), isMidway: isMidway)
        transit.awaited = attached(to: name).filter { mustChange($0, isMidway: isMidway) }
        services[name]?.phase = .moving(transit)
        send(moves, &batch)
    }

    mutating func send(_ moves: [Move], _ batch: inout GateBatch) {
        for move in moves { targets[move.target, default: TargetState()].calls += 1 }
        batch.moves += moves
    }

    /// What has to be stopped that no start will stop by itself, then what has to be started.
    private func neededMoves(to stand: Stand, of name: ServiceName, isMidway: Bool) -> [Move] {
        let wanted = stand.targets(of: name)
        let starts = wanted.filter { target in
            guard target.unit != nil else { return false }
            guard let seen = targets[target]?.seen, !isMidway else { return true }
            return seen.active != .active || seen.hasJob
        }
        let stops = targets.keys.sorted().filter { target in
            guard target.service == name, !wanted.contains(target), target.unit != nil,
                let state = targets[target],
                !state.seen.active.isDown || state.seen.hasJob || state.calls > 0
            else { return false }
            return !starts.contains { $0.stops(target) }
        }
        return stops.map(Move.stop) + starts.map(Move.start)
    }

    /// Goes a step further with a service, where what was heard allows that.
    mutating func advance(_ name: ServiceName, at now: Boottime, _ batch: inout GateBatch) {
        guard let service = services[name] else { return }
        if let limit = service.heardBy, limit <= now { services[name]?.heardBy = nil }
        guard link == .up, shutdown == .no else { return }
        switch service.phase {
        case .waiting:
            begin(name, at: now, &batch)
        case .moving(let transit):
            if isConfirmed(name) {
                beginFollowing(name, transit, at: now, &batch)
            } else if transit.retryAt <= now, !transit.isRetryDue {
                lookAgain(name, at: now, &batch)
            }
        case .following(let transit):
            if deviates(name) {
                suspect(name, &batch)
            } else if transit.awaited.isEmpty, transit.unread.isEmpty {
                settle(name, transit, at: now, &batch)
            }
        case .settled:
            if deviates(name) { suspect(name, &batch) }
        case .suspect:
            break
        }
    }

    private mutating func suspect(_ name: ServiceName, _ batch: inout GateBatch) {
        services[name]?.phase = .suspect
        batch.asks = true
    }

    private mutating func settle(
        _ name: ServiceName, _ transit: Transit, at now: Boottime, _ batch: inout GateBatch
    ) {
        services[name]?.phase = .settled
        services[name]?.isAlarmSaid = false
        guard let stand = services[name]?.stand else { return }
        batch.notices.append(
            .moved(name, stand, took: now - transit.began, units: transit.took))
    }

    /// Nothing was heard for a while. A job that waits for a unit to stop is no reason to ask again.
    private mutating func lookAgain(
        _ name: ServiceName, at now: Boottime, _ batch: inout GateBatch
    ) {
        let isUnderWay = targets.contains { target, state in
            target.service == name && (state.calls > 0 || state.seen.hasJob)
        }
        services[name]?.updateTransit { transit in
            transit.retryAt = now + Self.backOff(transit.attempts)
            transit.isRetryDue = !isUnderWay
        }
        if !isUnderWay { batch.asks = true }
    }

    /// Asks for the same once more.
    mutating func retry(_ name: ServiceName, at now: Boottime, _ batch: inout GateBatch) {
        guard let stand = services[name]?.stand else { return }
        services[name]?.updateTransit { transit in
            transit.isRetryDue = false
            transit.attempts += 1
            transit.retryAt = now + Self.backOff(transit.attempts)
        }
        send(neededMoves(to: stand, of: name, isMidway: false), &batch)
        batch.services.insert(name)
    }

    /// systemd has taken a move on, or refused it.
    mutating func note(
        _ move: Move, _ problem: String?, at now: Boottime, _ batch: inout GateBatch
    ) {
        let name = move.target.service
        if let calls = targets[move.target]?.calls {
            targets[move.target]?.calls = max(0, calls - 1)
        }
        services[name]?.heardBy = nil
        batch.services.insert(name)
        guard let problem, let stand = services[name]?.stand else { return }
        let isWanted = stand.targets(of: name).contains(move.target)
        guard isWanted == move.isStart else { return }
        services[name]?.alarm = .init(move: move, problem: problem)
        services[name]?.updateTransit { $0.retryAt = now + Self.backOff($0.attempts) }
        batch.asks = true
    }

    /// Every wanted target is active with nothing pending, every other is down.
    private func isConfirmed(_ name: ServiceName) -> Bool {
        guard let stand = services[name]?.stand else { return false }
        let wanted = stand.targets(of: name).filter { $0.unit != nil }
        return targets.allSatisfy { target, state in
            guard target.service == name else { return true }
            if state.calls > 0 { return false }
            return wanted.contains(target)
                ? state.seen.active == .active && !state.seen.hasJob : state.seen.active.isDown
        }
    }

    /// Whether a target stands where nobody here has moved it.
    func deviates(_ name: ServiceName) -> Bool {
        guard let stand = services[name]?.stand else { return false }
        let wanted = stand.targets(of: name).filter { $0.unit != nil }
        return targets.contains { target, state in
            target.service == name
                && (wanted.contains(target) == state.seen.active.isDown)
        }
    }

    private var isReachable: Bool {
        switch link {
        case .connecting, .up: true
        case .lost: false
        }
    }

    /// How long the daemon's readiness waits for systemd, its bus and polkit.
    private static let patience: Duration = .seconds(10)
}

extension Move {
    var isStart: Bool {
        switch self {
        case .start: true
        case .stop: false
        }
    }
}
