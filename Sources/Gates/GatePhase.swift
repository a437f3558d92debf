import CivilTime
import Decision

/// How far the targets of a gate are from the decision. Losing the bus, and a system that stops,
/// lead back to `waiting` from everywhere; another decision leads to `moving` or `settled`.
enum GatePhase: Hashable, Sendable {
    /// Nothing is decided, or may be moved now. Leaves for `moving`; if nothing is to be moved for `awaitingUnits` or
    /// `settled`.
    case waiting
    /// Jobs were asked for. Leaves for `awaitingUnits` once systemd has confirmed all of them.
    case moving(GateMove)
    /// The targets stand as decided, not all units do. Leaves for `settled` with the last unit, and
    /// for `deviating` if a target is moved.
    case awaitingUnits(GateMove)
    /// Everything is as decided. Leaves for `deviating` if a target is moved, and for `awaitingUnits` if the daemon was
    /// started during an opening.
    case settled
    /// Another process has moved a target, which is right if the system is stopping. Leaves for `moving` if it is not,
    /// or for `awaitingUnits` or `settled` if the target is back already.
    case deviating

    /// The move under way; nil if there is none. It may be changed, but neither begun nor ended.
    var move: GateMove? {
        get {
            switch self {
            case .moving(let move), .awaitingUnits(let move): move
            case .waiting, .settled, .deviating: nil
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .moving: self = .moving(newValue)
            case .awaitingUnits: self = .awaitingUnits(newValue)
            case .waiting, .settled, .deviating: break
            }
        }
    }

    /// Whether jobs were asked for and are not confirmed.
    var isMoving: Bool { if case .moving = self { true } else { false } }

    /// When jobs that are not confirmed are looked at again, units have had their time to start, or nothing has come
    /// for a while; nil without a move.
    var wakeUp: Boottime? {
        switch self {
        case .moving(let move): move.isRetryDue ? move.compareAt : min(move.retryAt, move.compareAt)
        case .awaitingUnits(let move): min(move.startBy ?? move.compareAt, move.compareAt)
        case .waiting, .settled, .deviating: nil
        }
    }
}

/// A move of a gate under way: from the decision until systemd has confirmed targets and units.
struct GateMove: Hashable, Sendable {
    let began: Boottime
    /// How often it was asked for again.
    private var attempts = 0
    /// When it is looked at again even without a signal.
    private(set) var retryAt: Boottime
    /// Whether it is asked for again as soon as it is known that the system is not stopping.
    private(set) var isRetryDue = false
    /// Whether systemd has taken a job of it: from then on units stop and start.
    private(set) var isAccepted = false
    /// Whether it was not looked at again yet: an answer may be waited for.
    private(set) var isNew = true
    /// Whether it began in the middle of another move: then earlier states of units prove nothing.
    private let isMidway: Bool
    private(set) var awaited: Set<UnitName>
    private var fresh: Set<UnitName> = []
    /// The awaited units that nobody has seen running: how long they took is not known.
    private var unseen: Set<UnitName> = []
    /// Whether the targets stand as decided: what was read of a unit before that proves nothing.
    private var haveTargets = false
    /// The targets that are being read, to find the units attached to them.
    private(set) var unread: Set<GateTarget> = []
    private(set) var took: [UnitName: Duration] = [:]
    /// When it last came forward: the targets stand, or a unit has arrived.
    private var progressAt: Boottime
    /// When its targets and units are compared with systemd because it has not come forward: a signal may be lost.
    private(set) var compareAt: Boottime
    private var compareWait = firstCompareWait
    /// When the awaited units have had their time to start; nil without a limit, and once that time is over.
    private(set) var startBy: Boottime?
    private(set) var isLate = false
    /// Whether nobody has seen it for a while. When the units arrived that were awaited then is not known.
    private(set) var hasGap = false

    /// A move that was asked for at `now`, and is looked at again after `timeLimit`.
    init(
        at now: Boottime, timeLimit: Duration = .seconds(2), isMidway: Bool = false,
        awaiting: Set<UnitName> = []
    ) {
        began = now
        progressAt = now
        compareAt = now + Self.firstCompareWait
        retryAt = now + timeLimit
        self.isMidway = isMidway
        awaited = awaiting
    }

    /// Whether every unit is as it should be, and no other can turn up.
    var isOver: Bool { awaited.isEmpty && unread.isEmpty }

    /// Whether it awaits a unit that was not read since the targets stand.
    func awaitsReading(of unit: UnitName) -> Bool {
        awaited.contains(unit) && !fresh.contains(unit)
    }

    /// Whether it was asked for several times, and systemd shows nothing of it.
    var isWithoutEffect: Bool { isAccepted && attempts >= 2 }

    /// systemd has taken a job of the move.
    mutating func jobAccepted() { isAccepted = true }

    /// An obstacle may be gone: it is asked for again at once, and the wait after that is short.
    mutating func retryNow(at now: Boottime) {
        attempts = 0
        retryAt = now
        isRetryDue = true
    }

    /// No signal came until `retryAt`. `isUnderWay`: systemd still works on a job of the move.
    mutating func timedOut(isUnderWay: Bool, at now: Boottime) {
        isNew = false
        delay(at: now)
        isRetryDue = !isUnderWay
    }

    mutating func retry(at now: Boottime) {
        isRetryDue = false
        attempts += 1
        delay(at: now)
    }

    /// Waits before it is looked at again, longer with each attempt.
    mutating func delay(at now: Boottime) { retryAt = now + Retry.local(after: attempts) }

    /// It was interrupted, and these units are not as it wants.
    mutating func resume(awaiting units: Set<UnitName>) {
        (hasGap, awaited) = (true, units)
    }

    private mutating func comeForward(at now: Boottime) {
        (progressAt, compareWait, startBy) = (now, Self.firstCompareWait, nil)
        compareAt = now + compareWait
    }

    /// It has not come forward until `compareAt`. It is compared again after waits that double: a unit may take its
    /// time.
    mutating func compared(at now: Boottime) {
        compareWait = compareWait * 2
        compareAt = now + compareWait
    }

    private static let firstCompareWait: Duration = .seconds(10)

    /// The targets stand; these are read to find their units.
    mutating func awaitReads(of targets: Set<GateTarget>, at now: Boottime) {
        comeForward(at: now)
        (fresh, haveTargets, isRetryDue) = ([], true, false)
        unread = targets
    }

    mutating func targetRead(_ target: GateTarget) { unread.remove(target) }

    mutating func unitRead(_ unit: UnitName) { if haveTargets { fresh.insert(unit) } }

    /// A unit that was not known when the move began is attached: the move awaits it too.
    mutating func expectArrival(of unit: UnitName) { awaited.insert(unit) }

    /// The awaited units have this time to start, from the last progress on. Returns whether it has just passed.
    mutating func limitStart(to limit: Duration, at now: Boottime) -> Bool {
        guard !isLate else { return false }
        let end = progressAt + limit
        isLate = end <= now
        startBy = isLate ? nil : end
        return isLate
    }

    /// Awaits these units no longer: they are not attached to the gate any more.
    mutating func forget(_ units: Set<UnitName>) { awaited.subtract(units) }

    /// Awaits a unit no longer that has stopped or started as this move wants, or could not be started. Returns whether
    /// it was awaited. `took` has how long it took; a unit that could not be started has none.
    mutating func unitArrived(_ unit: AttachedUnit, at now: Boottime) -> Bool {
        guard awaited.contains(unit.name) else { return false }
        if unit.isUnknown {
            unseen.insert(unit.name)
        } else if !unit.isDown {
            unseen.remove(unit.name)
        }
        guard
            unit.hasArrived(isMidway: isMidway, isFresh: fresh.contains(unit.name))
        else { return false }
        awaited.remove(unit.name)
        comeForward(at: now)
        if !hasGap, !unseen.contains(unit.name),
            unit.permission != .mayRun || unit.isUp && !unit.isSkipped
        {
            took[unit.name] = now - began
        }
        return true
    }
}

/// The refusal of a job by systemd. It is an alarm only if the system is not stopping, so it waits
/// for the answer to `readSystemState`; and it is reported once until the gate stands.
struct RefusedJob: Hashable, Sendable {
    private struct Refusal: Hashable {
        let job: TargetJob
        let problem: GateObstacle
    }

    private var pending: Refusal?
    private var reported: Refusal?

    /// Whether it is being asked whether the last refusal means anything.
    var isPending: Bool { pending != nil }

    /// The problem of the refusal that was reported last; nil without one.
    var problem: GateObstacle? { reported?.problem }

    mutating func jobRefused(_ job: TargetJob, _ problem: GateObstacle) {
        pending = Refusal(job: job, problem: problem)
    }

    /// systemd has taken a job that it may have refused before.
    mutating func jobAccepted(_ job: TargetJob) { if reported?.job == job { reported = nil } }

    /// The refusal means nothing: the system is stopping, or the bus is lost.
    mutating func dropPending() { pending = nil }

    /// The system is not stopping: the pending refusal is a problem.
    mutating func report() {
        guard let refusal = pending else { return }
        (pending, reported) = (nil, refusal)
    }

    /// The gate stands, or something else was decided: the next refusal is news again.
    mutating func forget() { reported = nil }
}

/// How often in a row a gate was put back: if another process keeps moving it, moves and lines get rarer.
struct Corrections: Hashable, Sendable {
    private var count = 0
    private var last: Boottime?

    /// Counts a deviation. Returns how long to wait before the gate is put back; nil for at once.
    mutating func next(at now: Boottime) -> Duration? {
        let isAgain = last.map { now - $0 < .seconds(60) } ?? false
        count = isAgain ? count + 1 : 1
        last = now
        return count <= Self.limit ? nil : Retry.local(after: count - Self.limit)
    }

    private static let limit = 3
}
