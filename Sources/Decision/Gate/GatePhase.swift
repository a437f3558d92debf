import CivilTime

/// How far the targets of a gate are from the decision. Losing the bus, and a system that stops, lead
/// back to `waiting` from everywhere; another decision leads to `moving` or `settled`.
enum GatePhase: Hashable, Sendable {
    /// Nothing is decided, or nothing may be moved now. Leaves for `moving`, or for `settled` if the
    /// targets stand as decided.
    case waiting
    /// Moves were asked for. Leaves for `following` once systemd has confirmed all of them.
    case moving(Transit)
    /// The targets stand as decided, not all units do. Leaves for `settled` with the last unit, and
    /// for `suspect` if a target is moved.
    case following(Transit)
    /// Everything is as decided. Leaves for `suspect` if a target is moved.
    case settled
    /// Somebody else has moved a target, which is right if the system is stopping. Leaves for
    /// `moving` if it is not, or for `settled` if the target is back already.
    case suspect

    /// The move under way; nil if there is none.
    var transit: Transit? {
        switch self {
        case .moving(let transit), .following(let transit): transit
        case .waiting, .settled, .suspect: nil
        }
    }

    var isMoving: Bool {
        if case .moving = self { true } else { false }
    }

    /// Changes the move under way, if there is one.
    mutating func update(_ change: (inout Transit) -> Void) {
        switch self {
        case .moving(var transit):
            change(&transit)
            self = .moving(transit)
        case .following(var transit):
            change(&transit)
            self = .following(transit)
        case .waiting, .settled, .suspect:
            break
        }
    }
}

/// One move of a gate under way: from the decision until systemd has confirmed targets and units.
struct Transit: Hashable, Sendable {
    let began: Boottime
    /// How often it was asked for again.
    private var attempts = 0
    /// When it is looked at again though nothing was heard.
    private(set) var retryAt: Boottime
    /// Whether it is asked for again as soon as it is known that the system is not stopping.
    private(set) var isRetryDue = false
    /// Whether it began in the middle of another one: then what was seen before tells nothing.
    private let isMidway: Bool
    /// The units that are not yet as they should be.
    private(set) var awaited: Set<UnitName>
    /// The units that were read since the targets stand.
    private var fresh: Set<UnitName> = []
    /// The targets that are being read, to find the units attached to them.
    private(set) var unread: Set<GateTarget> = []
    /// How long each unit took that has arrived.
    private(set) var took: [UnitName: Duration] = [:]

    /// A move that was asked for at `now`, and is looked at again after `patience`.
    init(
        at now: Boottime, patience: Duration = .seconds(2), isMidway: Bool = false,
        awaiting: Set<UnitName> = []
    ) {
        began = now
        retryAt = now + patience
        self.isMidway = isMidway
        awaited = awaiting
    }

    /// Whether every unit is as it should be, and no other can turn up.
    var isOver: Bool { awaited.isEmpty && unread.isEmpty }

    /// Whether it awaits a unit that was not read since the targets stand.
    func awaitsReading(of unit: UnitName) -> Bool {
        awaited.contains(unit) && !fresh.contains(unit)
    }

    /// Nothing was heard until `retryAt`. `isUnderWay`: systemd is at work on it all the same.
    mutating func lookAgain(isUnderWay: Bool, at now: Boottime) {
        delay(at: now)
        isRetryDue = !isUnderWay
    }

    /// It is asked for again.
    mutating func retry(at now: Boottime) {
        isRetryDue = false
        attempts += 1
        delay(at: now)
    }

    /// Waits before it is looked at again, longer with each attempt.
    mutating func delay(at now: Boottime) { retryAt = now + GateMachine.backOff(attempts) }

    /// The targets stand; these are read to find their units.
    mutating func beginReading(_ targets: Set<GateTarget>) {
        fresh = []
        unread = targets
    }

    mutating func noteReading(of target: GateTarget) { unread.remove(target) }

    mutating func noteReading(of unit: UnitName) { fresh.insert(unit) }

    mutating func expectArrival(of unit: UnitName) { awaited.insert(unit) }

    mutating func forget(_ units: Set<UnitName>) { awaited.subtract(units) }

    /// Notes that a unit is where this move was to bring it; nil if it is not, or was not awaited.
    mutating func noteArrival(of unit: AttachedUnit, at now: Boottime) -> Duration? {
        guard awaited.contains(unit.name),
            unit.hasArrived(isMidway: isMidway, isFresh: fresh.contains(unit.name))
        else { return nil }
        awaited.remove(unit.name)
        took[unit.name] = now - began
        return now - began
    }
}
