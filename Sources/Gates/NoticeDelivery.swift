import CivilTime
import Decision

/// The start of the target whose units pass on a notice: once for each notice.
///
/// systemd starts nothing with a target that is up, so that it waits while the units of the notice before are at work.
/// A refused start is tried again for an hour: later the notice would come late.
struct NoticeDelivery: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        /// Every notice is passed on. Leaves for `waiting` with a notice.
        case none
        /// The target is to be started. Leaves for `asked` when it is down, and for `none` after an hour.
        case waiting
        /// systemd is asked. Leaves for `none`, or for `waiting` after a refusal or with another notice.
        case asked(isAgain: Bool)
    }

    private var phase = Phase.none
    private var since = Boottime(microseconds: 0)
    private var refusals = 0
    private var retryAt: Boottime?
    private var wasUp = false
    /// The words of the last refusal, from the second one on.
    private var refusal: String?
    private var isLost = false

    /// There is a notice to pass on. It replaces a notice that still waits: the files have the newest.
    mutating func request(at now: Boottime) {
        since = now
        switch phase {
        case .none, .waiting: phase = .waiting
        case .asked: phase = .asked(isAgain: true)
        }
    }

    /// The job that is due now; nil if there is none.
    mutating func due(
        _ targets: GateTargets, of service: ServiceName, at now: Boottime
    ) -> TargetJob? {
        guard phase == .waiting else { return nil }
        if since + Self.limit <= now {
            (phase, refusals, retryAt) = (.none, 0, nil)
            isLost = true
            return nil
        }
        let target = GateTarget(service: service, kind: .notice)
        if let moment = retryAt, moment <= now { retryAt = nil }
        guard retryAt == nil, targets.isAtRestDown(target) else { return nil }
        phase = .asked(isAgain: false)
        return .start(target)
    }

    /// systemd has answered. False if the job is another.
    mutating func jobAnswered(
        _ problem: GateObstacle?, to job: TargetJob, at now: Boottime, _ batch: inout GateBatch
    ) -> Bool {
        guard !job.target.isOfDecision else { return false }
        guard case .asked(let isAgain) = phase else { return true }
        guard let problem else {
            phase = isAgain ? .waiting : .none
            refusals = 0
            delivered()
            // By then systemd has told that the target is up, if it still is.
            retryAt = now + .seconds(1)
            return true
        }
        phase = .waiting
        retryAt = now + Retry.local(after: refusals)
        refusals += 1
        // A system that is stopping refuses all jobs, and that is no problem.
        batch.isReadingSystemState = true
        if refusals >= 2 { refusal = problem.refusal }
        return true
    }

    mutating func targetChanged(isUp: Bool) {
        if isUp, !wasUp { delivered() }
        wasUp = isUp
    }

    private mutating func delivered() { (refusal, isLost) = (nil, false) }

    /// An obstacle may be gone: systemd is asked again at once. False if it has refused nothing.
    mutating func retryNow() -> Bool {
        guard phase == .waiting, refusals > 0 else { return false }
        retryAt = nil
        return true
    }

    /// The bus is lost, and with it the answer: systemd is asked again.
    mutating func busLost() { if phase != .none { phase = .waiting } }

    /// Why the last notice is not passed on, as a clause about the service; nil without a problem. It ends
    /// when the target is started, also by an operator.
    var problem: String? {
        guard isLost else { return refusal.map { "\(Self.units) cannot be started: \($0)" } }
        return "\(Self.units) were not started for its last notice within an hour"
            + (refusal.map { ": \($0)" } ?? "")
    }

    func wakeUp(_ link: SystemdLink) -> Boottime? {
        guard phase == .waiting, link.mayMove else { return nil }
        return min(retryAt ?? since + Self.limit, since + Self.limit)
    }

    private static let limit: Duration = .seconds(3600)
    private static let units = "the units for its notices"
}

extension GateState {
    /// Asks for the start of the units that pass on a notice, if that is due.
    mutating func deliverNotice(_ context: GateContext, _ batch: inout GateBatch) {
        let target = GateTarget(service: service, kind: .notice)
        notice.targetChanged(isUp: !targets.isDown(target))
        guard context.link.mayMove,
            let job = notice.due(targets, of: service, at: context.now)
        else { return }
        numbers[job] = UInt64(context.now.microseconds)
        enqueue(job, &batch)
    }
}
