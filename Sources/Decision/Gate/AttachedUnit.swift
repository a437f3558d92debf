import CivilTime

/// A unit that is attached to at least one gate: the permission of its gates, its state by systemd,
/// and its problem.
struct AttachedUnit: Hashable, Sendable {
    let name: UnitName
    /// The targets it has `Requisite=` on.
    private var holders: [GateTarget: Holder] = [:]
    /// Nil until systemd has told.
    private(set) var seen: UnitStatus?
    /// How its last run ended; nil if that is not known.
    private var result: String?
    private var isOneshot = false
    /// Whether an assertion has refused its last start. systemd leaves such a unit as it was.
    private var isStartRefused = false
    /// Whether a job to start it has ended and left it down, and it was not read since: an assertion may
    /// have refused the start.
    private var isDoubtful = false
    private var stopLimit: Duration?
    /// Whether systemd has read its units again since this unit was read: its limit may be another.
    private var isOutdated = false
    /// When it is late with stopping; nil if it need not stop, or has.
    private var stopBy: Boottime?
    /// The problem that was reported last.
    private(set) var problem: UnitProblem?
    /// The same with the time at which it was seen first.
    private(set) var datedProblem: Dated<UnitProblem>?
    /// How often in a row it was found running behind a closed gate, and when it may be stopped
    /// again.
    private var expulsions = 0
    private var expelAt: Boottime?
    /// How long its last stop or start took, counted from the move of the gate.
    private(set) var took: Duration?

    private struct Holder: Hashable, Sendable {
        /// Whether the target has `Wants=` on the unit.
        var isStarter: Bool
        /// Nil while the service of the target is undecided.
        var mayRun: Bool?
    }

    /// A unit of which nothing is known yet.
    init(_ name: UnitName) { self.name = name }

    // MARK: Its gates

    /// The targets it is attached to, in their order.
    var targets: [GateTarget] { holders.keys.sorted() }

    /// The services whose gates it is attached to.
    var services: Set<ServiceName> { Set(holders.keys.map(\.service)) }

    /// Attaches it to a target. `mayRun` is nil while the service of the target is undecided.
    mutating func attach(to target: GateTarget, isStarter: Bool, mayRun: Bool?) {
        holders[target] = Holder(isStarter: isStarter, mayRun: mayRun)
    }

    /// Detaches it from a target. Returns whether it is attached to another.
    mutating func detach(from target: GateTarget) -> Bool {
        holders[target] = nil
        return !holders.isEmpty
    }

    /// A gate was decided, or is not decided about any more.
    mutating func hear(of gate: GateState) {
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
    private var isStarted: Bool { holders.values.contains(where: \.isStarter) }

    /// Whether it is as a gate of this service wants it. Nil if the gate wants nothing of it: it only
    /// permits the unit, or the gate of another service forbids it.
    func isAsWanted(by service: ServiceName, _ gate: Gate) -> Bool? {
        let own = holders.filter { $0.key.service == service }.values
        switch gate {
        case .closed:
            return own.contains { $0.mayRun == false } ? seen?.active.isDown ?? false : nil
        case .open: return permission == .mayRun && own.contains(where: \.isStarter) ? isUp : nil
        }
    }

    /// Whether it is down already, for a gate of this service that will leave it these targets alone; nil if it may
    /// stay up then.
    func isDown(before service: ServiceName, leaves targets: [GateTarget]) -> Bool? {
        let mayStay = holders.keys.allSatisfy {
            $0.service != service || !$0.isOfDecision || targets.contains($0)
        }
        return mayStay ? nil : seen?.active.isDown ?? false
    }

    /// Whether it runs, or has done its work.
    private var isUp: Bool {
        guard let seen else { return false }
        let isDone = isOneshot && result == "success" && seen.isAtRestDown && !isDoubtful
        return seen.isAtRestUp || isDone
    }

    /// How it is published.
    var row: UnitRow {
        let isWanted: Bool? =
            switch permission {
            case .mustStop: false
            case .mayRun: isStarted ? true : nil
            case .undecided: nil
            }
        return UnitRow(
            name: name, isWanted: isWanted, seen: seen, took: took, problem: problem?.sentence)
    }

    // MARK: Reports of systemd

    /// A signal has the unit's status. Returns whether the unit has to be read: the cause of a
    /// failure, or of a start that was refused, is not in the signal.
    mutating func see(_ new: UnitStatus) -> Bool {
        var seen = new
        seen.load = new.load ?? self.seen?.load
        let hasFailed = seen.active == .failed && self.seen?.active != .failed
        let wasToStart = self.seen.map { $0.hasJob && $0.active.isDown } ?? false
        let hasLostJob = wasToStart && seen.isAtRestDown && permission == .mayRun
        self.seen = seen
        if hasFailed { result = nil }
        if !seen.active.isDown { isStartRefused = false }
        isDoubtful = hasLostJob || isDoubtful && seen.active.isDown
        return hasFailed || hasLostJob
    }

    /// Everything about it was read; nil if it could not be, and its last known state stays.
    mutating func take(_ properties: UnitSnapshot?) {
        isDoubtful = false
        guard let properties else { return }
        seen = properties.seen
        result = properties.result
        isOneshot = properties.isOneshot
        isStartRefused = properties.isStartRefused
        let before = limit
        stopLimit = properties.stopLimit
        stopBy = stopBy.map { $0 + (limit - before) }
        isOutdated = false
    }

    /// systemd has read its units again.
    mutating func noteReload() { isOutdated = true }

    private var isDown: Bool { seen?.active.isDown ?? true }

    /// Whether systemd has no usable file of it: then the drop-in that ties it to its gate has no effect.
    private var isLost: Bool { seen?.load.map { $0 != .loaded } ?? false }

    /// Whether it is neither on its way up nor down.
    private var isAtRest: Bool { seen?.isAtRest ?? true }

    // MARK: A move of a gate

    /// Whether a move of one of its gates, decided already, will stop or start it. `isMidway`: an
    /// earlier move is not confirmed, so that `seen` may be out of date.
    func mustChange(isMidway: Bool) -> Bool {
        switch permission {
        case .mustStop: !isDown
        case .mayRun: (isDown || isMidway) && isStarted
        case .undecided: false
        }
    }

    /// Whether it has stopped or started as the present move wants. `isFresh`: it was read since
    /// the targets were moved.
    func hasArrived(isMidway: Bool, isFresh: Bool) -> Bool {
        switch permission {
        case .mustStop: isDown
        case .mayRun: isAtRest && !isDoubtful && (!isDown && !isMidway || isFresh)
        case .undecided: true
        }
    }

    /// It has stopped or started; `time` counts from the move of the gate.
    mutating func noteArrival(after time: Duration) { took = time }

    // MARK: Judging

    /// Compares it with the permission of its gates. Returns the target that has to be stopped once
    /// more: the daemon may stop only targets, and systemd stops a unit that runs behind a closed
    /// gate with its target.
    ///
    mutating func judge(
        in situation: UnitSituation, at now: Boottime, _ batch: inout GateBatch
    ) -> GateTarget? {
        defer { datedProblem = Dated(problem, before: datedProblem, at: now) }
        switch permission {
        case .mustStop:
            if isDown {
                noteDown(&batch)
            } else if let gate = situation.closedGate, isAtRest {
                return expel(from: gate, at: now, &batch)
            } else if situation.isAsked {
                awaitStop(at: now, &batch)
            } else {
                (stopBy, problem) = (nil, nil)
                if isOutdated { batch.read(name) }
            }
        case .mayRun:
            stopBy = nil
            expulsions = 0
            noteMayRun(in: situation, &batch)
        case .undecided: stopBy = nil
        }
        return nil
    }

    private mutating func noteDown(_ batch: inout GateBatch) {
        let hasFailed = seen?.active == .failed
        // Its result is being read.
        if hasFailed, result == nil { return }
        let wasStopping = stopBy != nil
        expulsions = 0
        expelAt = nil
        stopBy = nil
        if hasFailed, result == "timeout", wasStopping {
            report(.killed, &batch)
        } else if problem != .killed {
            clear(&batch)
        }
    }

    /// Nothing is wrong with how it runs. Reports if systemd has lost its file.
    private mutating func clear(_ batch: inout GateBatch) {
        guard isLost, let load = seen?.load else { return problem = nil }
        report(.lost(load), &batch)
    }

    private mutating func noteMayRun(in situation: UnitSituation, _ batch: inout GateBatch) {
        guard seen?.active == .failed else {
            let isMissing = isStartRefused && isStarted && isDown && isAtRest
            if !isMissing {
                clear(&batch)
            } else if !situation.isAwaited, !situation.isDraining {
                report(.startRefused, &batch)
            }
            return
        }
        // A gate that has just opened starts it again, even after an earlier failure.
        guard let result, !situation.isAwaited else { return }
        report(.failed(result: result), &batch)
    }

    private mutating func awaitStop(at now: Boottime, _ batch: inout GateBatch) {
        if let due = expelAt, due <= now { expelAt = now + GateMachine.backOff(expulsions) }
        guard let stopBy else {
            stopBy = now + limit + Self.killingTakes
            if isOutdated { batch.read(name) }
            return
        }
        if stopBy <= now { report(.late(limit: limit), &batch) }
    }

    private mutating func expel(
        from gate: GateTarget, at now: Boottime, _ batch: inout GateBatch
    ) -> GateTarget? {
        if let expelAt, now < expelAt { return nil }
        expelAt = now + GateMachine.backOff(expulsions)
        expulsions += 1
        stopBy = now + limit + Self.killingTakes
        let tries = isLost ? 1 : 2
        report(
            expulsions > tries ? .escaped(seen?.load ?? .loaded) : .runningWhileClosed, &batch)
        return gate
    }

    /// Reports its problem once, under the first of its services.
    private mutating func report(_ problem: UnitProblem, _ batch: inout GateBatch) {
        guard self.problem != problem else { return }
        self.problem = problem
        guard let service = services.min() else { return }
        batch.announce(.unitProblem(service, name, problem))
    }

    /// The moment at which its problem may change without an event.
    var wakeUp: Boottime? {
        guard !isDown else { return nil }
        return switch problem {
        case .late: nil
        case .runningWhileClosed, .escaped: isAtRest ? expelAt : stopBy
        case .killed, .failed, .startRefused, .lost, nil: stopBy
        }
    }

    /// How long it may take to stop: systemd's own default if it has no limit, for a closing cannot
    /// wait for ever.
    private var limit: Duration { stopLimit ?? .seconds(90) }

    /// How long systemd may take to kill it after the limit.
    private static let killingTakes: Duration = .seconds(2)
}
