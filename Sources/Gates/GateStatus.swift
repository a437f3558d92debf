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
        case seen(Boottime)
    }

    package let wanted: Gate
    /// False if the service is only observed.
    package private(set) var isEnforced = true
    /// Nil if nobody moves the gate.
    package private(set) var actual: Actual?
    /// Since when `actual` is so; nil if nobody moves the gate.
    package private(set) var since: Since?
    /// Why it is stuck, or would be at the next decision; nil without a problem.
    package private(set) var problem: GateObstacle?
    /// When the move is tried again; nil if it is not.
    package private(set) var nextTry: Boottime?
    /// When the units are stopped that may still run behind the closed gate; nil without a drain.
    package private(set) var drainsUntil: Boottime?
    /// Whether people should see the page; nil while that is not known, and what they see stays.
    package private(set) var isUnavailable: Bool?
    package private(set) var units = UnitCount()

    /// Whether it differs from another in nothing but what the same number of units do.
    func differsInUnitsAlone(from other: GateStatus) -> Bool {
        var same = self
        same.units = other.units
        return same == other && units.total == other.units.total
    }
}

extension GateStatus {
    /// The report of a gate that nobody moves: the daemon moves none, or the service is only observed.
    package init(unmoved wanted: Gate, isEnforced: Bool = true) {
        self.init(wanted: wanted, isUnavailable: isEnforced && wanted == .closed)
        self.isEnforced = isEnforced
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
    /// Those that are as the gate wants them.
    private var wanted: Set<UnitName> = []

    /// Counts these units for a gate, which wants nothing of a unit for which `isAsWanted` is nil.
    init(_ units: [AttachedUnit] = [], isAsWanted: (AttachedUnit) -> Bool? = { _ in nil }) {
        for unit in units {
            guard let isAsWanted = isAsWanted(unit) else { continue }
            total += 1
            if isAsWanted {
                arrived += 1
                wanted.insert(unit.name)
            } else {
                unwanted.insert(unit.name)
            }
            if !isAsWanted, unit.seen?.isAtRest ?? false { resting.insert(unit.name) }
            if let problem = unit.problem, problem.spoilsMove { problems[unit.name] = problem }
        }
    }

    /// Counts units that other services keep down while the gate of this one is open.
    mutating func add(keptFrom service: ServiceName, _ units: [AttachedUnit]) {
        for unit in units where unit.isStarted(by: service) {
            let keepers = unit.keepers(from: service)
            guard !keepers.isEmpty else { continue }
            total += 1
            kept[unit.name] = keepers
        }
    }

    /// Counts listed units that are not attached: they are not as any gate wants them.
    mutating func add(missing: [UnitName: UnitProblem]) {
        for (unit, problem) in missing {
            if wanted.remove(unit) != nil {
                arrived -= 1
            } else if !unwanted.contains(unit) {
                total += 1
            }
            unwanted.insert(unit)
            if problem.spoilsMove, problems[unit] == nil { problems[unit] = problem }
        }
    }

    package var isComplete: Bool { arrived == total }

    /// The first unit that runs on behind the closed gate; nil without one.
    var escape: GateObstacle? {
        let escaped = problems.filter { _, problem in
            switch problem {
            case .escaped, .unattached: true
            case .late, .killed, .failed, .startRefused, .runningWhileClosed, .lost, .processesLeft,
                .attaching, .startWaits:
                false
            }
        }
        return escaped.min { $0.key < $1.key }.map { .escaped($0.key, $0.value) }
    }
}
