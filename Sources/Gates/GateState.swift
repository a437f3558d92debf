import CivilTime
import Decision

/// The gate of a service: the decision, how far its targets and units are from it, and the present move.
struct GateState: Hashable, Sendable {
    let service: ServiceName
    var targets: GateTargets
    private(set) var isConfigured: Bool
    /// Nil until the service is decided, and after it was withdrawn.
    private(set) var desired: DesiredGate?
    var phase = GatePhase.waiting
    var drain: GateDrain?
    /// Until when the daemon's readiness waits for an answer of systemd; nil once there was one.
    private(set) var readyBy: Boottime?
    private(set) var refusal = RefusedJob()
    private var corrections = Corrections()
    var files = GateFiles()
    /// What units are started for beside the gate; nothing before the first news.
    var hooks: [Hook: HookRun] = [:]
    /// The jobs that are asked for once more, whatever their targets show, by the number that tells them from earlier
    /// ones: the time since the boot.
    var numbers: [TargetJob: UInt64] = [:]
    /// The orders as they were written last; nil before the first write, and after a failed one.
    var orders: TargetOrders?
    /// When they may be written again that could not be.
    var ordersRetryAt: Boottime?
    /// How long its last opening and its last closing took.
    private(set) var moves: [Gate: Duration] = [:]
    /// The number of the job that began the last move, 0 before the first; nil while it is not known.
    private(set) var movedBy: UInt32? = 0
    /// The move whose end nobody has seen, because something has interrupted it; nil without one.
    private var interrupted: GateMove?
    /// How many starts of attached units it has refused.
    var refusedStarts = 0

    init(of service: ServiceName, isConfigured: Bool) {
        self.service = service
        self.isConfigured = isConfigured
        targets = GateTargets(of: service)
    }

    // MARK: Decisions

    /// The service is configured, since it was decided.
    mutating func markConfigured() { isConfigured = true }

    /// The service was decided. Returns whether `startMove` has to follow, once the attached units have heard of it.
    mutating func decide(
        _ desired: DesiredGate, _ context: GateContext, _ batch: inout GateBatch
    ) -> Bool {
        markConfigured()
        guard self.desired != desired else { return false }
        if self.desired == nil {
            readyBy = context.now + Self.timeLimit
            if context.link.isUp {
                targets.expectFixed()
                for target in GateTarget.main(of: service) { batch.read(target.unit) }
            }
        } else if self.desired?.gate != desired.gate {
            interrupted = GateMove(at: context.now)
        }
        self.desired = desired
        ordersRetryAt = nil
        (refusal, corrections) = (RefusedJob(), Corrections())
        targets.expect(desired.targets(of: service))
        return true
    }

    /// The service is not configured any more: its targets stay as they are.
    mutating func withdraw() {
        if isConfigured {
            let targets = targets
            self = GateState(of: service, isConfigured: false)
            self.targets = targets
        }
    }

    /// Asks for every job that is needed, if that is possible now.
    mutating func startMove(_ context: GateContext, _ batch: inout GateBatch) {
        let isMidway = phase.isMoving
        guard let desired else { return phase = .waiting }
        guard context.link.mayMove else {
            phase = .waiting
            // The mover needs no bus. Once it is back all is compared.
            if !context.link.isUp {
                enqueue(permitted(targets.jobs(to: desired, isMidway: true)), &batch)
            }
            return
        }
        guard !endDrainIfClosed(at: context.now) else { return }
        let jobs = permitted(targets.jobs(to: desired, isMidway: isMidway))
        guard !jobs.isEmpty else {
            readyBy = nil
            return settle(context, &batch)
        }
        // Starts that an earlier move has asked for may still be under way.
        if phase != .settled { movedBy = nil }
        interrupted = nil
        let awaited = attached.filter { context.units[$0]?.mustChange(isMidway: isMidway) ?? false }
        phase = .moving(GateMove(at: context.now, isMidway: isMidway, awaiting: awaited))
        enqueue(jobs, &batch)
    }

    /// The targets stand as decided, and nothing is to be asked for: goes on with an interrupted move, so that its end
    /// is in the log. What the mover did for the first decision, before there was a bus, is not.
    private mutating func settle(_ context: GateContext, _ batch: inout GateBatch) {
        guard var move = interrupted else {
            // The decision is for the same targets, and the present move goes on.
            if phase.move == nil { phase = .settled }
            return
        }
        interrupted = nil
        let awaited = attached.filter { context.units[$0]?.isOnItsWay ?? false }
        move.resume(awaiting: awaited)
        awaitUnits(of: move, context, &batch)
    }

    /// Nobody sees for a while what becomes of the present move.
    private mutating func interrupt(_ next: GatePhase) {
        interrupted = phase.move ?? interrupted
        phase = next
    }

    /// Has the mover look, and awaits the answer to these jobs: a target that another start brings with it needs none.
    private mutating func enqueue(_ jobs: [TargetJob], _ batch: inout GateBatch) {
        for job in jobs where !jobs.contains(where: { $0.brings(job) }) { enqueue(job, &batch) }
    }

    mutating func enqueue(_ job: TargetJob, _ batch: inout GateBatch) {
        targets.jobSent(job)
        batch.jobs.append(job)
    }

    // MARK: Reports of systemd

    /// systemd has listed the loaded targets of the service. The connection may be new.
    mutating func targetsListed(_ loaded: [GateTarget: UnitStatus], _ batch: inout GateBatch) {
        if isConfigured { targets.expectFixed() }
        for unit in targets.targetsListed(loaded) { batch.read(unit) }
    }

    /// A target was read, or could not be. Returns the units that are not attached to it any more.
    mutating func targetRead(
        _ properties: UnitSnapshot?, of target: GateTarget, _ batch: inout GateBatch
    ) -> Set<UnitName> {
        phase.move?.targetRead(target)
        guard let properties else { return [] }
        let detached = targets.targetRead(properties, of: target)
        unitsDetached(of: detached, &batch)
        return detached
    }

    /// The configuration attaches these units. Returns the targets whose units have changed, with the units that are
    /// not attached to them any more.
    mutating func attachmentsRead(
        _ named: [GateTarget: Set<UnitName>], _ batch: inout GateBatch
    ) -> [GateTarget: Set<UnitName>] {
        let changed = targets.attachmentsRead(named)
        for units in changed.values { unitsDetached(of: units, &batch) }
        return changed
    }

    private mutating func unitsDetached(of units: Set<UnitName>, _ batch: inout GateBatch) {
        phase.move?.forget(units.subtracting(targets.attached))
    }

    /// systemd has taken a job under this number, or refuses it.
    mutating func jobAnswered(
        _ problem: GateObstacle?, _ number: UInt32, to job: TargetJob, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        targets.jobAnswered(job, isRefused: problem != nil)
        if hookAnswered(problem, to: job, at: now, &batch) { return }
        readyBy = nil
        guard let problem else {
            if movedBy == nil || phase.move?.isAccepted == false { movedBy = number }
            phase.move?.jobAccepted()
            return refusal.jobAccepted(job)
        }
        guard permits(job.target) == job.isStart else { return }
        refusal.jobRefused(job, problem)
        phase.move?.delay(at: now)
        batch.isReadingSystemState = true
    }

    /// The bus is lost, and with it every answer: everything is compared anew once it is back.
    mutating func busLost() { pause() }

    /// Leaves everything as it is until the bus is back, or the system is not stopping any more.
    mutating func pause() {
        interrupt(.waiting)
        refusal.dropPending()
    }

    // MARK: Going on

    /// systemd has read its units again: asks again at once for a job that was refused.
    mutating func retryNow(at now: Boottime, _ batch: inout GateBatch) {
        if retryHooks() { batch.recheck(service) }
        guard refusal.problem != nil, phase.isMoving else { return }
        phase.move?.retryNow(at: now)
        batch.isReadingSystemState = true
    }

    /// Goes to the next phase if the known state allows it.
    mutating func advance(_ context: GateContext, _ batch: inout GateBatch) {
        guard let desired else { return }
        if let limit = readyBy, limit <= context.now { readyBy = nil }
        guard context.link.mayMove else { return }
        if let move = phase.move, move.compareAt <= context.now {
            phase.move?.compared(at: context.now)
            compare(move, &batch)
        }
        switch phase {
        case .waiting: startMove(context, &batch)
        case .moving(let move):
            if targets.areConfirmed(as: desired) {
                awaitUnits(of: move, context, &batch)
            } else if move.retryAt <= context.now, !move.isRetryDue {
                moveTimedOut(at: context.now, &batch)
            }
        case .awaitingUnits(let move):
            if targets.deviate(from: desired), !move.unread.isEmpty {
                // This may be older than the answer that was taken for the end of the move: a bus that was frozen
                // hands on first what it has kept. What is read comes after it.
                phase = .moving(move)
            } else if targets.deviate(from: desired) {
                targetsDeviated(&batch)
            } else if move.isOver {
                phase = .settled
                refusal.forget()
                let took = move.hasGap ? nil : context.now - move.began
                moves[desired.gate] = took ?? moves[desired.gate]
                let kept = report(context)?.units.kept ?? [:]
                batch.log(.moved(service, desired, took: took, units: move.took, kept: kept))
            } else if desired.gate == .open {
                limitStart(context, &batch)
            }
        case .settled:
            if targets.deviate(from: desired) {
                targetsDeviated(&batch)
            } else {
                resumeOpening(desired, context)
            }
        case .deviating: break
        }
    }

    /// The targets stand as decided: reads the units that this stops or starts. Some may be new.
    private mutating func awaitUnits(
        of move: GateMove, _ context: GateContext, _ batch: inout GateBatch
    ) {
        var move = move
        move.awaitReads(of: targets.targetsToRead(), at: context.now)
        for target in move.unread.sorted() { batch.read(target.unit) }
        for unit in move.awaited.sorted() where context.units[unit]?.permission == .mayRun {
            batch.read(unit)
        }
        phase = .awaitingUnits(move)
    }

    /// Has systemd list what the move is about.
    private func compare(_ move: GateMove, _ batch: inout GateBatch) {
        batch.compared.formUnion(move.awaited.union(targets.units))
    }

    private mutating func targetsDeviated(_ batch: inout GateBatch) {
        interrupt(.deviating)
        batch.isReadingSystemState = true
    }

    /// No signal came for a while. A job that waits for a unit to stop is no reason to ask again.
    private mutating func moveTimedOut(at now: Boottime, _ batch: inout GateBatch) {
        phase.move?.timedOut(isUnderWay: targets.areUnderWay, at: now)
        if !targets.areUnderWay { batch.isReadingSystemState = true }
    }

    /// The system is not stopping: reports a refusal, asks again, and puts back moved targets.
    mutating func resume(_ context: GateContext, _ batch: inout GateBatch) {
        guard let desired else { return }
        refusal.report()
        if phase != .settled || refusal.problem != nil { batch.recheck(service) }
        switch phase {
        case .deviating: putBack(to: desired, context, &batch)
        case .moving(let move): if move.isRetryDue { retry(to: desired, at: context.now, &batch) }
        case .waiting, .awaitingUnits, .settled: break
        }
    }

    private mutating func retry(
        to desired: DesiredGate, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard !endDrainIfClosed(at: now) else { return }
        phase.move?.retry(at: now)
        enqueue(permitted(targets.jobs(to: desired, isMidway: false)), &batch)
        batch.recheck(service)
    }

    /// Puts a gate back that another process has moved, or finds it in its place again. If somebody has closed it
    /// during its drain, flags and people want the same, and the drain ends.
    private mutating func putBack(
        to desired: DesiredGate, _ context: GateContext, _ batch: inout GateBatch
    ) {
        guard targets.deviate(from: desired) else { return settle(context, &batch) }
        phase = .settled
        guard !endDrainIfClosed(at: context.now) else { return }
        guard let delay = corrections.next(at: context.now) else {
            batch.log(.movedElsewhere(service, desired))
            return startMove(context, &batch)
        }
        interrupted = nil
        let awaited = attached.filter { context.units[$0]?.mustChange(isMidway: true) ?? false }
        phase = .moving(
            GateMove(at: context.now, timeLimit: delay, isMidway: true, awaiting: awaited))
    }

    /// How long the daemon's readiness waits for root's mover.
    private static let timeLimit: Duration = .seconds(5)
}
