import CivilTime
package import Decision
import Gates

/// The result of a drill.
package struct DrillFindings: Hashable, Sendable {
    /// The service that was drilled.
    package let service: ServiceName
    /// The state that was forced.
    package let state: State
    /// The outcome of each unit, in the order of the plan.
    package let outcomes: [UnitOutcome]
    /// A problem of the drill itself, not of a unit; nil without a problem.
    package let problem: String?
    /// From the order until the gate was open again; nil if it is not.
    package let closedFor: Duration?
    /// Whether the gate is open now.
    package let isOpen: Bool
    /// Whether the drill was broken off: some units were not checked.
    package let isInterrupted: Bool
}

/// The record of a drill so far: the observations of its units, its times, and its first problem.
struct DrillObservations: Hashable, Sendable {
    private let plan: DrillPlan
    private var observations: [UnitName: UnitObservations] = [:]
    private var times: DrillTimes
    private var problem: String?
    private var closedFor: Duration?
    /// Whether systemd did not move the gate: nothing is known of how long it was closed.
    private var wasGateStuck = false

    /// `limit` is how long the gate is to stay closed at most.
    init(of plan: DrillPlan, orderedAt time: Uptime, limit: Duration) {
        self.plan = plan
        times = DrillTimes(ordered: time, limit: limit)
    }

    /// Notes a problem of the drill itself. The first problem explains the others, so it stays.
    mutating func record(problem: String?) { self.problem = self.problem ?? problem }

    /// The gate cannot be moved.
    mutating func recordStuckGate() { wasGateStuck = true }

    // MARK: While the gate is closed

    /// Everything is down; returns whether that is so for the first time, and starts by hand are to be tried.
    mutating func recordAllDown() -> Bool {
        defer { times.wasAllDown = true }
        return !times.wasAllDown
    }

    /// The units without a snapshot behind the closed gate.
    func missing(_ units: [DrilledUnit]) -> [UnitName] {
        units.map(\.name).filter { observations[$0]?.closed == nil }
    }

    /// Notes how units stand behind the closed gate.
    mutating func recordClosed(_ snapshots: [UnitName: UnitSnapshot]) {
        for (name, snapshot) in snapshots {
            observations[name, default: UnitObservations()].closed = snapshot
        }
    }

    /// Notes the result of a start by hand.
    mutating func record(_ start: ManualStart, of unit: UnitName) {
        observations[unit, default: UnitObservations()].handStart = start
    }

    /// Whether a unit had not stopped when the gate was opened again.
    func isLate(_ unit: DrilledUnit) -> Bool {
        observations[unit.name]?.closed.map { !unit.hasStopped($0.seen) } ?? false
    }

    /// Notes the problems of units that the daemon reports.
    mutating func recordProblems(_ problems: [UnitName: String]) {
        for (name, problem) in problems { observations[name]?.reportedProblem = problem }
    }

    /// The gate is to open again: it was closed no longer than until now.
    mutating func recordEndOfClosing(at now: Uptime) {
        times.limit = min(times.limit, now - times.ordered)
    }

    // MARK: After the gate has opened

    /// The gate was to open again at this time.
    mutating func recordReopening(at time: Uptime) { times.reopened = time }

    /// Notes how units and the target of the open gate stand at the end.
    mutating func recordEnd(_ snapshots: [UnitName: UnitSnapshot]) {
        for unit in plan.units {
            guard let snapshot = snapshots[unit.name] else { continue }
            observations[unit.name, default: UnitObservations()].ended = snapshot
        }
        // A target that waited for a unit until the gate opened again was never down.
        guard !wasGateStuck, let reopened = times.reopened, let target = plan.openTarget,
            let snapshot = snapshots[target], snapshot.seen.active == .active,
            let opened = snapshot.upSince
        else { return }
        closedFor = max(opened, reopened) - times.ordered
    }

    /// The result of the drill. `isOpen`: the gate is open now; `wasInterrupted`: a signal has come.
    func findings(isOpen: Bool, wasInterrupted: Bool) -> DrillFindings {
        var times = times
        times.wasInterrupted = wasInterrupted || problem != nil
        return DrillFindings(
            service: plan.service, state: plan.state,
            outcomes: plan.units.map {
                $0.outcome(observations[$0.name] ?? UnitObservations(), times)
            }, problem: problem, closedFor: closedFor, isOpen: isOpen,
            isInterrupted: times.wasInterrupted)
    }
}

/// The progress lines of a wait: none in the first second, then the awaited units whenever they
/// change.
struct DrillProgress: Hashable, Sendable {
    private let since: Boottime
    private var printed: [String] = []
    private var printedAt: Boottime

    /// The progress of a wait that began at this time.
    init(since: Boottime) {
        self.since = since
        printedAt = since
    }

    /// Which units are awaited; nil if no line is due.
    mutating func line(
        _ units: [DrilledUnit], _ seen: [UnitName: UnitStatus], at now: Boottime
    ) -> String? {
        let awaited = units.map { unit in
            "\(unit.name) (\(seen[unit.name]?.active.rawValue ?? "not loaded"))"
        }
        guard !awaited.isEmpty, awaited != printed, now - printedAt >= .seconds(1) else {
            return nil
        }
        printed = awaited
        printedAt = now
        let shown = awaited.prefix(Self.shown)
        let more = awaited.count > shown.count ? ["\(awaited.count - shown.count) more"] : []
        let list = (shown + more).joined(separator: ", ")
        return "after \((now - since).wholeSeconds) s waiting for \(list)"
    }

    private static let shown = 6
}
