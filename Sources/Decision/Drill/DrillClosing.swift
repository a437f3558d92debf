import CivilTime

/// The part of a drill in which the gate closes: waits until everything is down, notes how each
/// unit stands then, and tries starts by hand.
///
/// An event leads to the next effects, and to nil at the end of this part: the closed gate stands, the order has ended, a signal has come, or an effect has failed.
struct DrillClosing: Hashable, Sendable {
    /// The step of a round: `checking`, `listing`, `reading` if a unit has come down, the
    /// three steps of a start by hand for each unit once all are down, `pausing`.
    private enum Step: Hashable, Sendable {
        /// Whether the order is still in force.
        case checking
        case listing
        case reading([UnitName: UnitStatus])
        /// Whether the order is still in force before a start by hand.
        case checkingStart(Starts)
        case starting(Starts)
        /// Whether the order was still in force after it: a unit that the reopened gate has started
        /// was not started by hand.
        case checkingResult(Starts, ManualStart)
        case pausing
    }

    /// The starts by hand that are left to try, and how the units stood before.
    private struct Starts: Hashable, Sendable {
        var left: ArraySlice<DrilledUnit>
        let seen: [UnitName: UnitStatus]
    }

    private let plan: DrillPlan
    /// When the order is over by itself.
    private let expiry: Boottime
    private var step = Step.checking
    private var progress: DrillProgress

    /// The closing by an order that is given at `now`.
    init(of plan: DrillPlan, until expiry: Boottime, at now: Boottime) {
        self.plan = plan
        self.expiry = expiry
        progress = DrillProgress(since: now)
    }

    /// Begins a round.
    mutating func look(_ record: DrillRecord, at now: DrillTime) -> [DrillEffect]? {
        guard !record.wasInterrupted, now.boot < expiry else { return nil }
        step = .checking
        return [.readStanding]
    }

    /// Handles an event of this part.
    mutating func handle(
        _ event: DrillEvent, _ record: inout DrillRecord, at now: DrillTime
    ) -> [DrillEffect]? {
        switch (step, event) {
        case (_, .failed), (_, .gateStuck): return nil
        // The order ends by itself, so that an unknown standing does not end the drill.
        case (_, .standingUnknown): return handle(.standing(.ordered), &record, at: now)
        case (.pausing, .woke): return look(record, at: now)
        case (.checking, .standing(let standing)):
            guard isInForce(standing, &record, at: now) else { return nil }
            step = .listing
            return [.list]
        case (.listing, .listed(let seen)):
            let down = plan.units.filter {
                $0.kind != .state && (seen[$0.name]?.isAtRestDown ?? true)
            }
            let missing = record.missing(down)
            guard !missing.isEmpty else { return judge(seen, &record, at: now) }
            step = .reading(seen)
            return [.read(missing)]
        case (.reading(let seen), .read(let snapshots, let problem)):
            record.noteClosed(snapshots)
            return problem == nil ? judge(seen, &record, at: now) : nil
        case (.checkingStart(let starts), .standing(let standing)):
            return isInForce(standing, &record, at: now)
                ? tryStart(starts, at: now) : afterStarts(starts.seen, at: now)
        case (.starting(let starts), .tried(let start)):
            guard now.boot < expiry else { return afterStarts(starts.seen, at: now) }
            step = .checkingResult(starts, start)
            return [.readStanding]
        case (.checkingResult(var starts, let start), .standing(let standing)):
            guard isInForce(standing, &record, at: now), let unit = starts.left.popFirst() else {
                return afterStarts(starts.seen, at: now)
            }
            record.note(start, of: unit.name)
            return tryNext(starts, record, at: now)
        // No effect of such a step has this outcome.
        case (_, .started), (_, .ordered), (_, .standing), (_, .listed), (_, .read), (_, .tried),
            (_, .unitProblems), (_, .released), (_, .daemonUnreachable), (_, .woke),
            (_, .interrupted):
            return []
        }
    }

    private mutating func judge(
        _ seen: [UnitName: UnitStatus], _ record: inout DrillRecord, at now: DrillTime
    ) -> [DrillEffect]? {
        guard plan.isAllDown(seen) else { return pause(seen, at: now) }
        guard !record.wasAllDown else { return afterStarts(seen, at: now) }
        record.noteAllDown()
        return tryNext(Starts(left: plan.attached[...], seen: seen), record, at: now)
    }

    /// Tries the next start by hand. That begins only when all units are down: a start while the
    /// target of the open gate still stops would call the stop off.
    private mutating func tryNext(
        _ starts: Starts, _ record: DrillRecord, at now: DrillTime
    ) -> [DrillEffect]? {
        guard !starts.left.isEmpty, !record.wasInterrupted else {
            return afterStarts(starts.seen, at: now)
        }
        step = .checkingStart(starts)
        return [.readStanding]
    }

    private mutating func tryStart(_ starts: Starts, at now: DrillTime) -> [DrillEffect]? {
        let left = expiry - now.boot
        guard left > Self.startTakes, let unit = starts.left.first else {
            return afterStarts(starts.seen, at: now)
        }
        step = .starting(starts)
        return [.tryStart(unit.name, within: min(left, Self.startLimit))]
    }

    private mutating func afterStarts(
        _ seen: [UnitName: UnitStatus], at now: DrillTime
    ) -> [DrillEffect]? {
        plan.isClosed(seen) ? nil : pause(seen, at: now)
    }

    private mutating func pause(
        _ seen: [UnitName: UnitStatus], at now: DrillTime
    ) -> [DrillEffect] {
        step = .pausing
        let awaited = plan.units.filter { !$0.hasStopped(seen[$0.name]) }
        return progress.tell(awaited, seen, at: now.boot) + [.wait(DrillMachine.pause)]
    }

    /// Whether the order is in force. If it has ended before its time, that is a problem.
    private func isInForce(
        _ standing: DrillStanding, _ record: inout DrillRecord, at now: DrillTime
    ) -> Bool {
        guard standing != .ordered else { return true }
        // The end is stored in whole seconds: a daemon that was restarted ends the order early.
        let isOver = !standing.isTakenAway && expiry - now.boot <= .seconds(1)
        if !isOver { record.note(standing.problem) }
        return false
    }

    /// A start by hand is not tried if less than this is left of the order.
    private static let startTakes: Duration = .milliseconds(500)
    private static let startLimit: Duration = .seconds(5)
}
