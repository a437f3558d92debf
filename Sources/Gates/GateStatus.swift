package import CivilTime
package import Decision

/// What a gate is in fact, beside what its verdict wants: how far systemd and the attached units are.
package struct GateStatus: Hashable, Sendable {
    /// How far a gate is.
    package enum Actual: String, CaseIterable, Sendable {
        /// The targets stand open, and the units that it starts have been started.
        case open
        /// It is being moved, or units have not stopped yet.
        case closing
        /// The targets stand closed, and every unit that it stops is down.
        case closed
        case opening
        /// It is not as wanted, and will not be unless the problem ends.
        case stuck
    }

    /// The beginning of a state.
    package enum Since: Hashable, Sendable {
        /// By systemd's time stamp.
        case published(Instant)
        /// When the daemon saw it.
        case seen(Boottime)
    }

    /// The gate that the verdict wants.
    package let wanted: Gate
    /// Nil if the daemon moves no gates.
    package private(set) var actual: Actual?
    /// Since when `actual` is so; nil if the daemon moves no gates.
    package private(set) var since: Since?
    /// Why it is stuck, or would be at the next decision; nil without a problem.
    package private(set) var problem: GateObstacle?
    /// When the move is tried again; nil if it is not.
    package private(set) var nextTry: Boottime?
    /// When the units are stopped that may still run behind the closed gate; nil without a drain.
    package private(set) var drainsUntil: Boottime?
    /// Whether people should see the page instead of the service; nil while that is not known, and what they see
    /// stays.
    package private(set) var isUnavailable: Bool?
    /// Its attached units.
    package private(set) var units = UnitCount()

    /// Whether it differs from another in nothing but what the same number of units do.
    fileprivate func differsInUnitsAlone(from other: GateStatus) -> Bool {
        var same = self
        same.units = other.units
        return same == other && units.total == other.units.total
    }
}

extension GateStatus {
    /// The report of a daemon that moves no gates.
    package init(unmoved wanted: Gate) {
        self.init(wanted: wanted, isUnavailable: wanted == .closed)
    }
}

/// How many of the units that a gate stops or starts are down or up.
package struct UnitCount: Hashable, Sendable {
    /// How many are as the gate wants them.
    package private(set) var arrived = 0
    /// How many it stops, or starts.
    package private(set) var total = 0
    /// The units for which the move has not gone well, with their problems.
    package private(set) var problems: [UnitName: UnitProblem] = [:]
    /// The units that are not as the gate wants them.
    package private(set) var unwanted: Set<UnitName> = []
    /// The units that the open gate would start, and other services keep down.
    package private(set) var kept: [UnitName: [ServiceName]] = [:]
    /// Those of them that neither start nor stop: nothing changes them by itself.
    package private(set) var resting: Set<UnitName> = []

    /// No units.
    init() {}

    /// Counts these units for a gate, which wants nothing of a unit for which `isAsWanted` is nil.
    init(_ units: [AttachedUnit], isAsWanted: (AttachedUnit) -> Bool?) {
        for unit in units {
            guard let isAsWanted = isAsWanted(unit) else { continue }
            total += 1
            if isAsWanted { arrived += 1 } else { unwanted.insert(unit.name) }
            if !isAsWanted, unit.seen?.isAtRest ?? false { resting.insert(unit.name) }
            if let problem = unit.problem, problem.spoilsMove { problems[unit.name] = problem }
        }
    }

    /// Counts units that other services keep down while the gate of this one is open.
    mutating func add(keptFrom service: ServiceName, _ units: [AttachedUnit]) {
        for unit in units where unit.holders.isStarted(by: service) {
            let keepers = unit.keepers(from: service)
            guard !keepers.isEmpty else { continue }
            total += 1
            kept[unit.name] = keepers
        }
    }

    /// Counts listed units that are not attached: they are not as any gate wants them.
    mutating func add(missing: [UnitName: UnitProblem]) {
        for (unit, problem) in missing {
            total += 1
            unwanted.insert(unit)
            if problem.spoilsMove { problems[unit] = problem }
        }
    }

    /// Whether every unit is as the gate wants it.
    package var isComplete: Bool { arrived == total }

    /// The first unit that runs on behind the closed gate; nil without one.
    var escape: GateObstacle? {
        problems.sorted { $0.key < $1.key }.lazy.compactMap { unit, problem in
            switch problem {
            case .escaped, .unattached: .escaped(unit, problem)
            case .late, .killed, .failed, .startRefused, .runningWhileClosed, .lost, .processesLeft,
                .attaching, .startWaits:
                nil
            }
        }.first
    }
}

/// The report of a gate that was written last. A change of the gate is written at once, so that a reader
/// that knows of an opening and a closing never sees the report of an earlier closing, and one that knows of a
/// unit sees it counted. Changes of units alone are written at most five times a second.
struct WrittenGateStatus: Hashable, Sendable {
    /// Nil before the first write, and after a failed write.
    private(set) var report: GateStatus?
    private var writtenAt: Boottime?
    private var isDue = false
    /// The problem of the gate, with the time at which it was seen first.
    private(set) var problem: Dated<GateObstacle>?

    /// Whether this report differs from the one written last, and may be written now; then it counts as
    /// written.
    mutating func replace(with new: GateStatus, at now: Boottime) -> Bool {
        isDue = false
        problem = Dated(new.problem, before: problem, at: now)
        guard new != report else { return false }
        if let report, let writtenAt, new.differsInUnitsAlone(from: report),
            now - writtenAt < Self.interval
        {
            isDue = true
            return false
        }
        report = new
        writtenAt = now
        return true
    }

    /// The since of a state: that of the last report as long as the gate is in the same state.
    func since(_ actual: GateStatus.Actual, _ wanted: Gate) -> GateStatus.Since? {
        guard let report, report.actual == actual, report.wanted == wanted else { return nil }
        return report.since
    }

    /// The report could not be written: it is due again.
    mutating func fail() { report = nil }

    /// When a report that is due may be written.
    var wakeUp: Boottime? { isDue ? writtenAt.map { $0 + Self.interval } : nil }

    private static let interval: Duration = .milliseconds(200)
}

/// A problem, and when it was seen first.
package struct Dated<Problem: Hashable & Sendable>: Hashable, Sendable {
    /// The problem.
    package let problem: Problem
    /// When it was seen first.
    package let since: Boottime

    /// The problem at this time; nil without one. It is as old as the same problem before.
    init?(_ problem: Problem?, before: Dated?, at now: Boottime) {
        guard let problem else { return nil }
        self.problem = problem
        since = before.flatMap { $0.problem == problem ? $0.since : nil } ?? now
    }
}

/// How long the last moves of a gate took since the start of the daemon, from the order until every unit was
/// as wanted.
package struct LastMoves: Hashable, Sendable {
    /// The time of the last closing; nil before the first.
    package private(set) var closing: Duration?
    /// The time of the last opening; nil before the first.
    package private(set) var opening: Duration?

    /// No move yet.
    init() {}

    /// A move has ended.
    mutating func record(_ gate: Gate, took time: Duration) {
        switch gate {
        case .closed: closing = time
        case .open: opening = time
        }
    }
}
