import CivilTime
import Decision

/// The starts of a unit that its gates have refused since the daemon has followed it. The first is told at once,
/// those after it once a minute with their number: a timer may try each second.
struct RefusedStarts: Hashable, Sendable {
    private(set) var count = 0
    /// When the last one was refused; nil before the first.
    private(set) var last: Boottime?
    private var unlogged = 0
    private var loggedAt: Boottime?
    /// The service whose gate has refused the last one.
    private var service: ServiceName?

    mutating func add(by service: ServiceName, at now: Boottime) {
        count += 1
        unlogged += 1
        last = now
        self.service = service
    }

    /// Reports those that were not told, if a minute has passed. `isOver`: the gates refuse no start any more.
    mutating func report(
        of unit: UnitName, isOver: Bool, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard unlogged > 0, let service, wakeUp.map({ $0 <= now }) ?? true else { return }
        let isFirst = unlogged == count
        batch.log(
            .startsRefused(service, unit, unlogged, isFirst: isFirst, isOver: isOver, by: nil))
        (unlogged, loggedAt) = (0, now)
    }

    /// Whether one that came now would be told at once.
    func isReportDue(at now: Boottime) -> Bool { loggedAt.map { $0 + .seconds(60) <= now } ?? true }

    var wakeUp: Boottime? { unlogged > 0 ? loggedAt.map { $0 + .seconds(60) } : nil }
}

extension GateMachine {
    /// systemd has ended a start job without a start: counts it if gates have refused it.
    mutating func startFailed(
        of name: UnitName, job: UInt32, isByAssertion: Bool, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        guard link.mayMove, let unit = units[name] else { return }
        let refusing = Set(
            unit.targets.filter {
                gates[$0.service]?
                    .refuses(job, of: name, attachedTo: $0, isByAssertion: isByAssertion) ?? false
            }.map(\.service))
        guard let first = refusing.min() else { return }
        for service in refusing { gates[service]?.refusedStarts += 1 }
        units[name]?.refusedStarts.add(by: first, at: now)
        if unit.refusedStarts.isReportDue(at: now) { listed.startRefused(of: name, &batch) }
        batch.recheck(name)
    }

    /// The unit whose stop a queued start of this unit waits for; nil if none. systemd refuses the start after it.
    func blocker(of unit: AttachedUnit) -> UnitName? {
        // Where systemd shows the gate open, and no job that closes it, the start may be one of an opening before.
        guard unit.isStartQueued, unit.permission == .mustStop,
            !unit.services.contains(where: { gates[$0]?.targets.isSeenOpen ?? false })
        else { return nil }
        return unit.services.flatMap { gates[$0]?.attached ?? [] }.filter { other in
            units[other].map { $0.permission == .mustStop && $0.seen?.active.isDown == false }
                ?? false
        }.min()
    }
}

extension GateState {
    /// Whether the gate has refused this start job of a unit that is attached to one of its targets.
    ///
    /// systemd numbers jobs in the order in which they are queued. A job that is older than the last move was not
    /// asked for at this gate: it is of the boot, or of an opening that the move has ended.
    func refuses(
        _ job: UInt32, of unit: UnitName, attachedTo target: GateTarget, isByAssertion: Bool
    ) -> Bool {
        guard let movedBy, job > movedBy else { return false }
        if permits(target) == false { return true }
        // During a drain the target is up, and the marker alone refuses starts.
        return drain != nil && target.kind == .open && isByAssertion
            && phase.move?.awaited.contains(unit) != true
    }
}
