import CivilTime

/// The part of a drill in which the gate opens again: waits until every unit is as before, or has
/// had its time.
struct DrillOpening: Hashable, Sendable {
    private let plan: DrillPlan
    private let began: Boottime
    /// Since when the target of the open gate is active; nil until it is.
    private var openSince: Boottime?
    private var seen: [UnitName: UnitStatus] = [:]
    private var progress: DrillProgress

    /// The opening by an order that ended at `now`.
    init(of plan: DrillPlan, at now: Boottime) {
        self.plan = plan
        began = now
        progress = DrillProgress(since: now)
    }

    /// The units and targets were listed.
    mutating func take(list seen: [UnitName: UnitStatus], at now: Boottime) {
        self.seen = seen
        if openSince == nil, plan.isOpen(seen) { openSince = now }
    }

    /// The next effects, nil at the end of this part. `standing` is nil if the daemon's file is
    /// missing, out of date or unreadable.
    mutating func judge(
        _ standing: DrillStanding?, _ record: inout DrillRecord, at now: Boottime
    ) -> [DrillEffect]? {
        if let standing, standing.isTakenAway {
            record.note(standing.problem)
            return nil
        }
        var awaited = plan.units
        if let openSince {
            let time = now - openSince
            awaited.removeAll { $0.hasSettled(seen[$0.name], after: time) }
            let isOver = awaited.allSatisfy { time >= limit(of: $0, record) }
            if isOver || record.wasInterrupted { return nil }
        } else if now - began >= gateLimit {
            record.note("the gate has not opened: see 'systemctl status killswitchd'")
            return nil
        }
        return progress.tell(awaited, seen, at: now) + [.wait(DrillMachine.pause)]
    }

    /// How long a unit may take after the gate has opened.
    private func limit(of unit: DrilledUnit, _ record: DrillRecord) -> Duration {
        switch unit.kind {
        case .attached, .dependent: unit.startLimit + (record.isLate(unit) ? unit.stopLimit : .zero)
        case .state: unit.stopLimit
        }
    }

    /// How long the gate may take: a unit that has to stop before it opens may take its time.
    private var gateLimit: Duration {
        plan.units.map(\.stopLimit).reduce(.zero, max) + DrillMachine.daemonMayTake
    }
}
