import CivilTime
import Decision

/// A unit that is attached to at least one gate: its permission, its state by systemd, and its problem.
struct AttachedUnit: Hashable, Sendable {
    let name: UnitName
    /// The targets that it stops with.
    var holders: [GateTarget: Holder] = [:]
    /// Nil until systemd has told.
    private(set) var seen: UnitStatus?
    /// Whether systemd has told nothing of it on this connection: it may have stopped or started since it was seen.
    private var isSeenBefore = false
    /// How it was read last, but for its status. Its `result` is nil while that is not known.
    private var read = UnitSnapshot(UnitStatus(.inactive))
    /// Whether a start job has left it down, perhaps refused by an assertion, and it was not read since.
    private var isDoubtful = false
    /// Whether it has failed since it was read: why is not known yet.
    private var isFailureUnread = false
    /// Whether it has failed while its gates stopped it.
    private var hasFailedToStop = false
    /// When it is late with stopping; nil if it need not stop, or has.
    private var stopBy: Boottime?
    private(set) var problem: UnitProblem?
    /// How often in a row it was found running behind a closed gate, and when it may be stopped again.
    private var expulsions = 0
    private var expelAt: Boottime?
    /// How long its last stop or start took, counted from the move of the gate.
    private(set) var took: Duration?
    var left = LeftProcesses()
    /// Whether somebody has asked systemd to start it since it was down, and the job is not over.
    private(set) var isStartQueued = false
    var refusedStarts = RefusedStarts()

    init(_ name: UnitName) { self.name = name }

    /// Whether it runs, has done its work, or systemd has found that it need not run here.
    var isUp: Bool {
        guard let seen else { return false }
        let isDone = read.isOneshot && read.result == "success" && seen.isAtRestDown && !isDoubtful
        return seen.isAtRestUp || isDone || isSkipped
    }

    /// Whether systemd has started nothing at its last start, because a condition of its unit file was not met.
    var isSkipped: Bool {
        read.isConditionUnmet && !isDoubtful && seen?.isAtRestDown ?? false
    }

    // MARK: Reports of systemd

    /// The connection is new.
    mutating func busConnected() { isSeenBefore = seen != nil }

    /// A signal or a list has the unit's status; a list has no time. Returns whether the unit has to be read: the cause
    /// of a failure, or of a start that was refused, is not in them.
    mutating func statusChanged(to new: UnitStatus) -> Bool {
        var seen = new
        seen.load = new.load ?? self.seen?.load
        if seen.since == nil, seen.active == self.seen?.active { seen.since = self.seen?.since }
        let hasFailed = seen.active == .failed && self.seen?.active != .failed
        let wasToStart = self.seen.map { $0.hasJob && $0.active.isDown } ?? false
        let hasLostJob = wasToStart && seen.isAtRestDown && permission == .mayRun
        let mayBeStart = isStartQueued || self.seen?.isAtRestDown ?? false
        isStartQueued = seen.hasJob && seen.active.isDown && mayBeStart
        if hasFailed { read.result = nil }
        isFailureUnread = hasFailed || isFailureUnread && seen.active == .failed
        see(seen)
        if !seen.active.isDown {
            read.isStartRefused = false
            left.forget()
        }
        isDoubtful = hasLostJob || isDoubtful && seen.active.isDown
        return hasFailed || hasLostJob
    }

    /// Everything about it was read; nil if it could not be, and its last known state stays.
    mutating func update(from properties: UnitSnapshot?) {
        (isDoubtful, isFailureUnread) = (false, false)
        guard let properties else { return }
        let mayBeStart = isStartQueued || seen == nil && properties.seen.active.isDown
        isStartQueued = properties.seen.hasJob && mayBeStart
        let before = limit
        see(properties.seen)
        read = properties
        left.arePossible = properties.leavesProcesses
        stopBy = stopBy.map { $0 + (limit - before) }
    }

    private mutating func see(_ new: UnitStatus) {
        if new.active != .failed {
            hasFailedToStop = false
        } else if let seen, !seen.active.isDown {
            hasFailedToStop = permission == .mustStop
        }
        seen = new
        isSeenBefore = false
    }

    var triggeredBy: [UnitName] { read.triggeredBy }

    /// When it went down last; nil if it was not up in this boot.
    var downSince: Uptime? { read.downSince }

    /// The services whose markers its start needs; nil if that is not known.
    var refusingServices: Set<ServiceName>? { read.refusingServices }

    /// Whether systemd calls it down, and processes of it may run on.
    var hasLeft: Bool { left.mayRun && seen?.active.isDown ?? false }

    var isDown: Bool { seen?.active.isDown ?? true && !hasLeft }

    /// Whether it is known to be down, and how it has stopped.
    var hasStopped: Bool { seen != nil && isDown && !isEndUnread }

    /// Whether it has failed while its gates stopped it, and why is not read yet.
    private var isEndUnread: Bool { isFailureUnread && hasFailedToStop }

    /// Whether systemd has no usable file of it: then the drop-in that ties it to its gate has no effect.
    var isLost: Bool { seen?.load.map { $0 != .loaded } ?? false }

    private var isAtRest: Bool { seen?.isAtRest ?? true }

    /// Whether systemd has told nothing of it on this connection.
    var isUnknown: Bool { seen == nil || isSeenBefore }

    // MARK: A move of a gate

    /// Whether a move of one of its gates, decided already, will stop or start it. `isMidway`: an
    /// earlier move is not confirmed, so that `seen` may be out of date.
    func mustChange(isMidway: Bool) -> Bool {
        switch permission {
        case .mustStop: !hasStopped || isUnknown
        case .mayRun: (isDown || isMidway) && isStarted
        case .undecided: false
        }
    }

    /// Whether it has stopped or started as the move wants. `isFresh`: it was read since the targets were moved.
    func hasArrived(isMidway: Bool, isFresh: Bool) -> Bool {
        switch permission {
        case .mustStop: hasStopped && !isUnknown
        case .mayRun: !isUnknown && isAtRest && !isDoubtful && (!isDown && !isMidway || isFresh)
        case .undecided: true
        }
    }

    /// Whether it is stopping or starting as its gates want, or has still to.
    var isOnItsWay: Bool {
        switch permission {
        case .mustStop: !hasStopped || isUnknown
        case .mayRun: isStarted && (isUnknown || !isUp && (isDown || !isAtRest))
        case .undecided: false
        }
    }

    /// The move is over for it; `time` counts from the move of the gate, nil if it could not be started.
    mutating func arrived(after time: Duration?) { took = time }

    // MARK: Judging

    /// Compares it with the permission of its gates. Returns the target that has to be stopped once more: the daemon
    /// may stop only targets, and a unit that runs behind a closed gate stops with its target.
    mutating func enforcePermission(
        in context: UnitContext, at now: Boottime, _ batch: inout GateBatch
    ) -> GateTarget? {
        let isOver = permission != .mustStop && !context.isDraining
        refusedStarts.report(of: name, isOver: isOver, at: now, &batch)
        switch permission {
        case .mustStop:
            if isDown, let blocker = context.blocker {
                problem = .startWaits(blocker)
            } else if isDown {
                checkStopped()
            } else if hasLeft {
                awaitProcesses(at: now, &batch)
            } else if let gate = context.closedGate, isAtRest, !isSeenBefore {
                return expel(from: gate, at: now)
            } else if context.isAsked {
                awaitStop(at: now)
            } else {
                (stopBy, problem) = (nil, nil)
            }
        case .mayRun:
            (stopBy, expulsions) = (nil, 0)
            checkRunning(in: context)
        case .undecided:
            (stopBy, expelAt, expulsions) = (nil, nil, 0)
            clear()
        }
        return nil
    }

    private mutating func checkStopped() {
        if isFailureUnread { return }
        (stopBy, expelAt, expulsions) = (nil, nil, 0)
        if seen?.active == .failed, read.result == "timeout", hasFailedToStop {
            problem = .killed
        } else if problem != .killed {
            clear()
        }
    }

    /// Nothing is wrong with how it runs. It may be that systemd has lost its file.
    private mutating func clear() {
        guard isLost, let load = seen?.load else { return problem = nil }
        problem = .lost(load)
    }

    private mutating func checkRunning(in context: UnitContext) {
        guard seen?.active == .failed else {
            let isMissing = read.isStartRefused && isStarted && isDown && isAtRest
            if !isMissing {
                clear()
            } else if !context.isAwaited, !context.isDraining {
                problem = .startRefused
            }
            return
        }
        // That kill ended the closing before.
        if problem == .killed { clear() }
        // A gate that has just opened starts it again, even after an earlier failure.
        guard let result = read.result, !context.isAwaited else { return }
        problem = .failed(result: result)
    }

    private mutating func awaitProcesses(at now: Boottime, _ batch: inout GateBatch) {
        (stopBy, expelAt, expulsions) = (nil, nil, 0)
        if let processes = left.found { problem = .processesLeft(processes) }
        left.requestCount(of: name, at: now, &batch)
    }

    private mutating func awaitStop(at now: Boottime) {
        if let due = expelAt, due <= now { expelAt = now + Retry.local(after: expulsions) }
        guard let stopBy else {
            stopBy = now + limit + Self.killDuration
            return
        }
        if stopBy <= now { problem = .late(limit: limit) }
    }

    private mutating func expel(from gate: GateTarget, at now: Boottime) -> GateTarget? {
        if let expelAt, now < expelAt { return nil }
        expelAt = now + Retry.local(after: expulsions)
        expulsions += 1
        stopBy = now + limit + Self.killDuration
        let hasEscaped = expulsions > (isLost ? 1 : 2)
        problem = hasEscaped ? .escaped(seen?.load ?? .loaded) : .runningWhileClosed
        return gate
    }

    /// The moment at which its problem may change, or refused starts are told, without an event.
    var wakeUp: Boottime? { [refusedStarts.wakeUp, stopWakeUp].compactMap(\.self).min() }

    private var stopWakeUp: Boottime? {
        guard !isDown else { return nil }
        if hasLeft { return permission == .mustStop ? left.countAt : nil }
        return switch problem {
        case .late: nil
        case .runningWhileClosed, .escaped: isAtRest ? expelAt : stopBy
        case .killed, .failed, .startRefused, .lost, .attaching, .unattached, .processesLeft,
            .startWaits, nil:
            stopBy
        }
    }

    /// How long it may take to stop: without a limit systemd's default, for a closing cannot wait for ever.
    private var limit: Duration { read.stopLimit ?? .seconds(90) }

    /// How long it may take to start before nobody waits for it: its limit, and the time that systemd takes to end
    /// a start that has failed.
    var startLimit: Duration { (read.startLimit ?? .seconds(90)) + Self.killDuration }

    /// How long systemd may take to kill it after the limit.
    private static let killDuration: Duration = .seconds(2)
}
