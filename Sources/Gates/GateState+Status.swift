import CivilTime
import Decision

/// What others may know of a gate, and what it is in fact.
extension GateState {
    /// Whether something attached to this target may run, as a notice always may; nil while nothing is decided.
    func permits(_ target: GateTarget) -> Bool? {
        desired.map { !target.isOfDecision || $0.targets(of: service).contains(target) }
    }

    var attached: Set<UnitName> { targets.attached }

    /// Whether the daemon's readiness need not wait for this gate.
    var isReady: Bool { readyBy == nil }

    /// Whether a target is closed by decision, and nothing is under way that would stop its units.
    func isClosedForGood(_ target: GateTarget) -> Bool {
        switch phase {
        case .settled, .awaitingUnits: permits(target) == false && targets.isAtRestDown(target)
        case .waiting, .moving, .deviating: false
        }
    }

    /// Whether the decision forbids the units of this target, and systemd has been asked to stop them.
    func hasAskedForStops(of target: GateTarget) -> Bool {
        guard permits(target) == false else { return false }
        return switch phase {
        case .waiting: false
        case .moving(let move): move.isAccepted
        case .awaitingUnits, .settled, .deviating: true
        }
    }

    /// Whether the present move awaits a unit that was not read since the targets were moved.
    func awaitsReading(of unit: UnitName) -> Bool { phase.move?.awaitsReading(of: unit) ?? false }

    /// Whether systemd has taken or refused the last move, or has had its time to answer.
    var isAnswered: Bool {
        guard case .moving(let move) = phase, move.isNew else { return true }
        return !targets.haveCalls && !refusal.isPending
    }

    /// The moment at which time alone changes something.
    func wakeUp(_ link: SystemdLink) -> Boottime? {
        let retry = link.mayMove ? phase.wakeUp : nil
        let times =
            [readyBy, files.wakeUp, ordersRetryAt, retry, drain?.end]
            + hooks.values.map { $0.wakeUp(link) }
        return times.compactMap(\.self).min()
    }

    // MARK: The report

    /// The units that are attached although the service is not configured: nothing decides about them.
    var orphans: Set<UnitName> { isConfigured ? [] : attached }

    /// Why systemd does not move it; nil without a problem. A lost bus is a problem of all gates.
    func problem(_ link: SystemdLink) -> GateObstacle? {
        if let problem = refusal.problem { return problem }
        if targets.haveCalls, let silence = link.unanswered.problem { return silence }
        guard case .moving(let move) = phase, move.isWithoutEffect, !targets.areUnderWay else {
            return nil
        }
        return .noEffect
    }

    /// What the gate is in fact; nil while that is not known, and while the system is stopping.
    func report(_ context: GateContext) -> GateStatus? {
        let missing = missing(context)
        let attached = attached.compactMap { context.units[$0] }
        if let drain {
            guard targets.areAttachedKnown || !context.link.isReachable else { return nil }
            return drain.report(of: service, attached, since: files, at: context.now)
        }
        guard let desired else { return nil }
        let link = context.link
        var units = UnitCount(attached) { $0.isAsWanted(by: service, desired.gate) }
        units.add(missing: missing)
        if desired.gate == .open { units.add(keptFrom: service, attached) }
        let silence: GateObstacle? = !link.isUp && isReady ? .silent : nil
        let obstacle = link.obstacle ?? problem(link) ?? silence
        guard let actual = actual(desired, link, units, obstacle) else { return nil }
        let problem = obstacle ?? (desired.gate == .closed ? units.escape : nil)
        let nextTry = problem == nil ? nil : link.retryAt ?? retryAt
        return GateStatus(
            wanted: desired.gate, actual: actual,
            since: files.since(actual, desired.gate) ?? since(actual, desired, context.now),
            problem: problem, nextTry: nextTry, isUnavailable: isUnavailable(desired, context),
            units: units)
    }

    /// The units of the service that the configuration lists and that are not tied to it, with the reason.
    func missing(_ context: GateContext) -> [UnitName: UnitProblem] {
        context.listed.missing(of: self, context.link, at: context.now)
    }

    private func actual(
        _ desired: DesiredGate, _ link: SystemdLink, _ units: UnitCount, _ obstacle: GateObstacle?
    ) -> GateStatus.Actual? {
        let stands = targets.areConfirmed(as: desired) && targets.areAttachedKnown
        guard stands else {
            let hasEscape = desired.gate == .closed && units.escape != nil
            if obstacle?.isLasting ?? hasEscape { return .stuck }
            let isKnown = link.mayMove && (targets.areAttachedKnown || phase.isMoving)
            guard isKnown || obstacle != nil else { return nil }
            return desired.gate == .open ? .opening : .closing
        }
        switch desired.gate {
        case .open: return isSettled ? .open : .opening
        case .closed:
            if units.isComplete, isSettled || phase.move?.unread.isEmpty ?? false { return .closed }
            return units.escape == nil ? .closing : .stuck
        }
    }

    private var isSettled: Bool {
        switch phase {
        case .settled, .waiting: true
        case .moving, .awaitingUnits, .deviating: false
        }
    }

    private var retryAt: Boottime? {
        if case .moving(let move) = phase { move.retryAt } else { nil }
    }

    private func since(
        _ actual: GateStatus.Actual, _ desired: DesiredGate, _ now: Boottime
    ) -> GateStatus.Since {
        let target = GateTarget(service: service, kind: desired.gate == .open ? .open : .closed)
        guard actual == .open || actual == .closed, let since = targets.since(target) else {
            return .seen(now)
        }
        return .published(since)
    }
}
