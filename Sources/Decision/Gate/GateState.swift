import CivilTime

/// The gate of a service: the decision, how far its targets and units are from it, and the present move.
struct GateState: Hashable, Sendable {
    let service: ServiceName
    private(set) var targets: GateTargets
    private(set) var isConfigured: Bool
    /// Whether its units were reported: without a configured service their gate has no decision.
    private var areOrphansReported = false
    /// Nil until the service is decided, and after it was withdrawn.
    private(set) var desired: DesiredGate?
    var phase = GatePhase.waiting
    /// The closing that waits for the end of its drain.
    var drain: GateDrain?
    /// Until when the daemon's readiness waits for an answer of systemd; nil once there was one.
    private(set) var readyBy: Boottime?
    private(set) var refusal = RefusedJob()
    private var corrections = Corrections()
    /// Its files as they were written last.
    var files = GateFiles()
    /// The start of the units that pass on notices.
    var notice = NoticeStart()
    private(set) var moves = LastMoves()
    /// The number of the job that began the last move, 0 before the first; nil while it is not known.
    private(set) var movedBy: UInt32? = 0
    /// How many starts of attached units it has refused.
    var refusedStarts = 0

    /// The gate of a service that nothing is decided about yet.
    init(of service: ServiceName, isConfigured: Bool) {
        self.service = service
        self.isConfigured = isConfigured
        targets = GateTargets(of: service)
    }

    // MARK: Decisions

    /// The service is configured, since it was decided.
    mutating func noteConfigured() { (isConfigured, areOrphansReported) = (true, false) }

    /// The service was decided. Returns whether `begin` has to follow, once the attached units have heard of it.
    mutating func decide(
        _ desired: DesiredGate, _ rest: GateSurroundings, _ batch: inout GateBatch
    ) -> Bool {
        noteConfigured()
        guard self.desired != desired else { return false }
        if self.desired == nil {
            readyBy = rest.link.isReachable ? rest.now + Self.timeLimit : nil
            if rest.link.isUp {
                targets.expectFixed()
                for target in GateTarget.main(of: service) { batch.read(target.unit) }
            }
        }
        self.desired = desired
        (refusal, corrections) = (RefusedJob(), Corrections())
        targets.expect(desired.targets(of: service))
        return true
    }

    /// The gate opens again during its drain: has its units started if some are down. A start was refused to them
    /// meanwhile, and the targets stand open already. Returns whether `begin` has to follow.
    mutating func startAgain(_ rest: GateSurroundings) -> Bool {
        let areUp =
            rest.link.isUp && targets.areAttachedKnown
            && attached.allSatisfy { rest.units[$0]?.isAsWanted(by: service, .open) ?? true }
        if !areUp { targets.startAgain() }
        return !areUp
    }

    /// The service is not configured any more: its targets stay as they are.
    mutating func withdraw(_ batch: inout GateBatch) {
        if isConfigured {
            let targets = targets
            self = GateState(of: service, isConfigured: false)
            self.targets = targets
        }
        reportOrphans(&batch)
    }

    /// Names the units that are attached to a service which is not configured, once.
    private mutating func reportOrphans(_ batch: inout GateBatch) {
        guard !isConfigured, !attached.isEmpty, !areOrphansReported else { return }
        areOrphansReported = true
        batch.announce(.unitsOrphaned(service, attached.sorted()))
    }

    /// Asks for every job that is needed, if that is possible now.
    mutating func begin(_ rest: GateSurroundings, _ batch: inout GateBatch) {
        let isMidway = phase.isMoving
        guard rest.link.mayMove, let desired else { return phase = .waiting }
        guard !endDrainIfClosed(at: rest.now) else { return }
        let jobs = targets.jobs(to: desired, isMidway: isMidway)
        guard !jobs.isEmpty else {
            readyBy = nil
            phase = .settled
            return
        }
        let awaited = attached.filter { rest.units[$0]?.mustChange(isMidway: isMidway) ?? false }
        // Starts that an earlier move has asked for may still be under way.
        if phase != .settled { movedBy = nil }
        phase = .moving(GateMove(at: rest.now, isMidway: isMidway, awaiting: awaited))
        for job in jobs { enqueue(job, &batch) }
    }

    /// Asks systemd for a job.
    mutating func enqueue(_ job: TargetJob, _ batch: inout GateBatch) {
        targets.noteCall(job)
        batch.enqueue(job)
    }

    // MARK: Reports of systemd

    /// systemd has listed the loaded targets of the service. The connection may be new.
    mutating func take(list loaded: [GateTarget: UnitStatus], _ batch: inout GateBatch) {
        if isConfigured { targets.expectFixed() }
        for unit in targets.take(list: loaded) { batch.read(unit) }
    }

    /// A signal has the status of a target.
    mutating func see(_ seen: UnitStatus, of target: GateTarget) { targets.see(seen, of: target) }

    /// A target was read, or could not be. Returns the units that are not attached to it any more.
    mutating func take(
        _ properties: UnitSnapshot?, of target: GateTarget, _ batch: inout GateBatch
    ) -> Set<UnitName> {
        phase.move?.noteReading(of: target)
        guard let properties else { return [] }
        let detached = targets.take(properties, of: target)
        noteDetachment(of: detached, &batch)
        return detached
    }

    /// The drop-ins were read: these units are attached by them. Returns the targets whose units have
    /// changed, with the units that are not attached to them any more.
    mutating func take(
        named: [GateTarget: Set<UnitName>], _ batch: inout GateBatch
    ) -> [GateTarget: Set<UnitName>] {
        let changed = targets.take(named: named)
        for units in changed.values { noteDetachment(of: units, &batch) }
        return changed
    }

    private mutating func noteDetachment(of units: Set<UnitName>, _ batch: inout GateBatch) {
        phase.move?.forget(units.subtracting(targets.attached))
        reportOrphans(&batch)
    }

    /// A unit that was not known before is attached: the present move waits for it too.
    mutating func expectArrival(of unit: UnitName) { phase.move?.expectArrival(of: unit) }

    /// An attached unit was read, or could not be.
    mutating func noteReading(of unit: UnitName) { phase.move?.noteReading(of: unit) }

    /// Notes that a unit has stopped or started as the present move wants, and returns how long
    /// that took; nil if it has not, or was not awaited.
    mutating func noteArrival(of unit: AttachedUnit, at now: Boottime) -> Duration? {
        phase.move?.noteArrival(of: unit, at: now)
    }

    /// systemd has queued a job under this number, or refused it.
    mutating func take(
        answer problem: GateObstacle?, _ number: UInt32, to job: TargetJob, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        targets.noteAnswer(job, isRefused: problem != nil)
        if notice.take(answer: problem, to: job, at: now, &batch) { return }
        readyBy = nil
        guard let problem else {
            if movedBy == nil || phase.move?.isAccepted == false { movedBy = number }
            phase.move?.accept()
            return refusal.accept(job)
        }
        guard permits(job.target) == job.isStart else { return }
        refusal.note(job, problem)
        phase.move?.delay(at: now)
        batch.askSystemState()
    }

    /// The bus is lost, and with it every answer: everything is compared anew once it is back.
    mutating func loseBus() {
        pause()
        readyBy = nil
        targets.forgetCalls()
    }

    /// Leaves everything as it is until the bus is back, or the system is not stopping any more.
    mutating func pause() {
        phase = .waiting
        refusal.drop()
    }

    // MARK: Going on

    /// polkit is back: asks again at once for a move that was refused.
    mutating func hasten(at now: Boottime, _ batch: inout GateBatch) {
        hastenNotice(&batch)
        guard refusal.problem != nil, phase.isMoving else { return }
        phase.move?.hasten(at: now)
        batch.askSystemState()
    }

    /// Goes to the next phase if the known state allows it.
    mutating func advance(_ rest: GateSurroundings, _ batch: inout GateBatch) {
        guard let desired else { return }
        if let limit = readyBy, limit <= rest.now { readyBy = nil }
        guard rest.link.mayMove else { return }
        switch phase {
        case .waiting: begin(rest, &batch)
        case .moving(let move):
            if targets.areConfirmed(as: desired) {
                follow(move, rest, &batch)
            } else if move.retryAt <= rest.now, !move.isRetryDue {
                lookAgain(at: rest.now, &batch)
            }
        case .awaitingUnits(let move):
            if targets.deviate(from: desired) {
                noteDeviation(&batch)
            } else if move.isOver {
                phase = .settled
                refusal.forget()
                let took = rest.now - move.began
                moves.note(desired.gate, took: took)
                let kept = report(rest)?.units.kept ?? [:]
                batch.announce(
                    .moved(service, desired, took: took, units: move.took, kept: kept))
            } else if desired.gate == .open {
                limitStart(rest, &batch)
            }
        case .settled:
            if targets.deviate(from: desired) {
                noteDeviation(&batch)
            } else {
                resumeOpening(desired, rest)
            }
        case .deviating: break
        }
    }

    /// The targets stand as decided: reads the units that this stops or starts. Some may be new.
    private mutating func follow(
        _ move: GateMove, _ rest: GateSurroundings, _ batch: inout GateBatch
    ) {
        var move = move
        move.beginReading(targets.worthReading(), at: rest.now)
        for target in move.unread.sorted() { batch.read(target.unit) }
        for unit in move.awaited.sorted() where rest.units[unit]?.permission == .mayRun {
            batch.read(unit)
        }
        phase = .awaitingUnits(move)
    }

    private mutating func noteDeviation(_ batch: inout GateBatch) {
        phase = .deviating
        batch.askSystemState()
    }

    /// No signal came for a while. A job that waits for a unit to stop is no reason to ask again.
    private mutating func lookAgain(at now: Boottime, _ batch: inout GateBatch) {
        phase.move?.lookAgain(isUnderWay: targets.areUnderWay, at: now)
        if !targets.areUnderWay { batch.askSystemState() }
    }

    /// The system is not stopping: reports a refusal, asks again, and puts back moved targets.
    mutating func proceed(_ rest: GateSurroundings, _ batch: inout GateBatch) {
        guard let desired else { return }
        refusal.report(of: service, &batch)
        if phase != .settled || refusal.problem != nil { batch.touch(service) }
        switch phase {
        case .deviating: putBack(to: desired, rest, &batch)
        case .moving(let move): if move.isRetryDue { retry(to: desired, at: rest.now, &batch) }
        case .waiting, .awaitingUnits, .settled: break
        }
    }

    /// Asks for the same once more.
    private mutating func retry(
        to desired: DesiredGate, at now: Boottime, _ batch: inout GateBatch
    ) {
        phase.move?.retry(at: now)
        for job in targets.jobs(to: desired, isMidway: false) { enqueue(job, &batch) }
        batch.touch(service)
    }

    /// Puts a gate back that another process has moved, or finds it in its place again. If somebody has closed it
    /// during its drain, flags and people want the same, and the drain ends.
    private mutating func putBack(
        to desired: DesiredGate, _ rest: GateSurroundings, _ batch: inout GateBatch
    ) {
        phase = .settled
        guard targets.deviate(from: desired), !endDrainIfClosed(at: rest.now) else { return }
        guard let delay = corrections.next(at: rest.now) else {
            batch.announce(.movedElsewhere(service, desired))
            return begin(rest, &batch)
        }
        phase = .moving(GateMove(at: rest.now, timeLimit: delay))
    }

    /// How long the daemon's readiness waits for systemd, its bus and polkit.
    private static let timeLimit: Duration = .seconds(10)
}
