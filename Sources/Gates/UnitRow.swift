package import CivilTime
package import Decision

/// An attached unit as it is published in `units.json`.
package struct UnitRow: Hashable, Sendable {
    package let name: UnitName
    /// Whether it should run; nil if the gate does not start it, or its service is undecided.
    package let isWanted: Bool?
    /// Whether it is as its gates want it; nil if they want nothing of it. A oneshot that has done its work is.
    package let isAsWanted: Bool?
    /// Nil until systemd has told.
    package let seen: UnitStatus?
    /// How long its last stop or start took, counted from the move of the gate; nil if it could not be started.
    package let took: Duration?
    package let problem: String?
    /// False for a unit that the configuration lists and that is not attached.
    package var isAttached = true
    /// The other services that keep it down, while this one permits it.
    package var keepers: [ServiceName] = []
    /// How many of its processes run on though it is down; nil if none do, or if that is not known.
    package var processes: Int?
    /// How many of its starts the gates have refused since the daemon has followed it.
    package var refusedStarts = 0
    /// When they refused the last one; nil before the first.
    package var refusedAt: Boottime?
}

extension UnitRow {
    /// A listed unit that is not attached.
    init(_ name: UnitName, missing problem: UnitProblem, of desired: DesiredGate?) {
        self.init(
            name: name, isWanted: desired.map { $0.gate == .open }, isAsWanted: false, seen: nil,
            took: nil, problem: problem.sentence, isAttached: false)
    }
}

extension AttachedUnit {
    private static let skipped =
        "a condition in its unit file (Condition…=) is not met, so that systemd starts nothing"

    /// How it is published among the units of a service. A unit that another service keeps down is not as wanted, nor
    /// is one that is `missing`: listed, and not tied to its gate.
    func row(of service: ServiceName, missing: UnitProblem?) -> UnitRow {
        let keepers = keepers(from: service)
        let (isWanted, isAsWanted): (Bool?, Bool?) =
            switch permission {
            case .mustStop: (false, keepers.isEmpty && hasStopped)
            case .mayRun: isStarted ? (true, isUp) : (nil, nil)
            case .undecided: (nil, nil)
            }
        return UnitRow(
            name: name, isWanted: isWanted, isAsWanted: missing == nil ? isAsWanted : false,
            seen: seen, took: took,
            problem: (problem ?? missing)?.sentence
                ?? (isSkipped && permission == .mayRun ? Self.skipped : nil),
            isAttached: missing == nil, keepers: keepers,
            processes: hasLeft ? left.found?.count : nil, refusedStarts: refusedStarts.count,
            refusedAt: refusedStarts.last)
    }
}

/// The permission of all gates of a unit together.
enum UnitPermission: Hashable, Sendable {
    case mayRun
    case mustStop
    /// Some of its services are undecided, and no decided service forbids it.
    case undecided
}
