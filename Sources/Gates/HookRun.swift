import CivilTime
import Decision

/// The start of the target whose units pass on news of a service: once for each notice, or each change of the state.
///
/// systemd starts nothing with a target that is up, so that it waits while the units of the news before are at work.
/// A refused start is tried again for an hour: later the news would come late.
struct HookRun: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        /// All news is passed on. Leaves for `waiting` with news.
        case none
        /// The target is to be started. Leaves for `asked` when it is down, and for `none` after an hour.
        case waiting
        /// systemd is asked. Leaves for `none`, or for `waiting` after a refusal or with other news.
        case asked(isAgain: Bool)
    }

    private let hook: Hook
    private var phase = Phase.none
    private var since = Boottime(microseconds: 0)
    private var refusals = 0
    private var retryAt: Boottime?
    private var wasUp = false
    /// The words of the last refusal, from the second one on.
    private var refusal: String?
    private var isLost = false

    init(of hook: Hook) { self.hook = hook }

    /// There is news to pass on. It replaces news that still waits: the files have the newest.
    mutating func request(at now: Boottime) {
        since = now
        switch phase {
        case .none, .waiting: phase = .waiting
        case .asked: phase = .asked(isAgain: true)
        }
    }

    /// The job that is due now; nil if there is none. Units that have just been configured are attached a moment
    /// later, and a job that is due waits for them.
    mutating func due(
        _ targets: GateTargets, of service: ServiceName, isAttaching: Bool, at now: Boottime
    ) -> TargetJob? {
        guard phase == .waiting else { return nil }
        if since + Self.limit <= now {
            (phase, refusals, retryAt) = (.none, 0, nil)
            isLost = true
            return nil
        }
        let target = GateTarget(service: service, kind: .init(hook))
        if let moment = retryAt, moment <= now { retryAt = nil }
        guard retryAt == nil, !isAttaching, targets.isAtRestDown(target) else { return nil }
        phase = .asked(isAgain: false)
        return .start(target)
    }

    /// systemd has answered. False if the job is another.
    mutating func jobAnswered(
        _ problem: GateObstacle?, to job: TargetJob, at now: Boottime, _ batch: inout GateBatch
    ) -> Bool {
        guard job.target.kind == .init(hook) else { return false }
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

    /// Why the last news is not passed on, as a clause about the service; nil without a problem. It ends
    /// when the target is started, also by an operator.
    var problem: String? {
        let (units, last) =
            switch hook {
            case .notice: ("the units for its notices", "its last notice")
            case .change: ("the units for its changes", "its last change")
            }
        guard isLost else { return refusal.map { "\(units) cannot be started: \($0)" } }
        return "\(units) were not started for \(last) within an hour"
            + (refusal.map { ": \($0)" } ?? "")
    }

    func wakeUp(_ link: SystemdLink) -> Boottime? {
        guard phase == .waiting, link.mayMove else { return nil }
        return min(retryAt ?? since + Self.limit, since + Self.limit)
    }

    private static let limit: Duration = .seconds(3600)
}

extension GateState {
    /// There is news, and its files are written.
    mutating func announce(_ hook: Hook, at now: Boottime) {
        hooks[hook, default: HookRun(of: hook)].request(at: now)
    }

    /// Asks for the start of the units that pass on news, where that is due.
    mutating func runHooks(_ context: GateContext, _ batch: inout GateBatch) {
        for kind in hooks.keys.sorted() {
            let target = GateTarget(service: service, kind: .init(kind))
            hooks[kind]?.targetChanged(isUp: !targets.isDown(target))
            let isAttaching = context.listed.isAttaching(context.link, at: context.now)
            guard context.link.mayMove,
                let job = hooks[kind]?.due(
                    targets, of: service, isAttaching: isAttaching, at: context.now)
            else { continue }
            numbers[job] = UInt64(context.now.microseconds)
            enqueue(job, &batch)
        }
    }

    /// systemd has answered. False if the job starts no units for news.
    mutating func hookAnswered(
        _ problem: GateObstacle?, to job: TargetJob, at now: Boottime, _ batch: inout GateBatch
    ) -> Bool {
        guard !job.target.isOfDecision else { return false }
        for kind in hooks.keys {
            _ = hooks[kind]?.jobAnswered(problem, to: job, at: now, &batch)
        }
        return true
    }

    mutating func hooksWaitForBus() {
        for kind in hooks.keys { hooks[kind]?.busLost() }
    }

    /// An obstacle may be gone. False if systemd has refused nothing.
    mutating func retryHooks() -> Bool {
        hooks.keys.reduce(false) { isRetried, kind in
            hooks[kind]?.retryNow() ?? false || isRetried
        }
    }
}
