import CivilTime

/// What all gates and units come to: the next wake-up, the problems, readiness, and the units whose
/// signals are followed.
///
/// It is kept up to date with the gates and units that an event has changed, so that an event costs
/// what it concerns, and not the number of gates.
struct GateDigest: Sendable {
    private var wakeUps = WakeUps()
    private var busProblem: GateProblem?
    private var gateProblems: [ServiceName: GateProblem] = [:]
    private var noticeProblems: [ServiceName: GateProblem] = [:]
    private var unitProblems: [UnitName: GateProblem] = [:]
    /// The gates that the daemon's readiness waits for.
    private var awaited: Set<ServiceName> = []
    /// How many targets of each gate are followed.
    private var followedTargets: [ServiceName: Int] = [:]
    private var followed: Set<UnitName> = []
    /// The changes of `followed` that systemd was not told of.
    private var (added, removed): (Set<UnitName>, Set<UnitName>) = ([], [])

    // MARK: Changes

    /// The link to systemd has changed.
    mutating func note(_ link: SystemdLink, at now: Boottime) {
        wakeUps.set(.link, to: link.wakeUp)
        let since = busProblem?.since ?? now
        busProblem = link.problem.map { .bus($0, since: since) }
    }

    /// A gate has changed.
    mutating func note(_ gate: GateState, _ link: SystemdLink, at now: Boottime) {
        wakeUps.set(.gate(gate.service), to: gate.wakeUp(link))
        let since = gateProblems[gate.service]?.since ?? now
        gateProblems[gate.service] = gate.problem.map {
            .gate(gate.service, $0.sentence, since: since)
        }
        let lostSince = noticeProblems[gate.service]?.since ?? now
        noticeProblems[gate.service] = gate.notice.problem.map {
            .notice(gate.service, $0, since: lostSince)
        }
        if gate.isReady { awaited.remove(gate.service) } else { awaited.insert(gate.service) }
        // A gate loses no target.
        guard followedTargets[gate.service] != gate.targetCount else { return }
        followedTargets[gate.service] = gate.targetCount
        for unit in gate.targetUnits { follow(unit) }
    }

    /// A unit has changed; nil if it is not attached any more.
    mutating func note(_ unit: AttachedUnit?, named name: UnitName, at now: Boottime) {
        wakeUps.set(.unit(name), to: unit?.wakeUp)
        let since = unitProblems[name]?.since ?? now
        unitProblems[name] = unit.flatMap { unit in
            unit.problem.map { .unit(name, of: unit.services, $0, since: since) }
        }
        if unit != nil {
            follow(name)
        } else if followed.remove(name) != nil, added.remove(name) == nil {
            removed.insert(name)
        }
    }

    private mutating func follow(_ unit: UnitName) {
        guard followed.insert(unit).inserted, removed.remove(unit) == nil else { return }
        added.insert(unit)
    }

    // MARK: Effects

    /// Has systemd's signals of new units sent, and of others not any more. A new connection follows
    /// nothing yet.
    mutating func subscriptions(_ link: inout SystemdLink) -> [GateEffect] {
        guard link.isUp else { return [] }
        if link.beginFollowing() { (added, removed) = (followed, []) }
        defer { (added, removed) = ([], []) }
        return (removed.isEmpty ? [] : [.unsubscribe(removed)])
            + (added.isEmpty ? [] : [.subscribe(added)])
    }

    /// Sets the next wake-up if it has changed, or after it has come.
    mutating func sleep() -> [GateEffect] { wakeUps.sleep() }

    /// The owners of the wake-ups that have come.
    mutating func wake(at now: Boottime) -> [WakeUps.Owner] { wakeUps.wake(at: now) }

    /// The state of all gates.
    var overview: GateOverview {
        let gates = gateProblems.sorted { $0.key < $1.key }.map(\.value)
        let notices = noticeProblems.sorted { $0.key < $1.key }.map(\.value)
        let units = unitProblems.sorted { $0.key < $1.key }.map(\.value)
        return GateOverview(
            isReady: awaited.isEmpty,
            problems: [busProblem].compactMap(\.self) + gates + notices + units)
    }
}

/// The moments at which time alone changes something. Of all of them only the next is asked for.
struct WakeUps: Sendable {
    /// What looks at itself when its moment has come.
    enum Owner: Hashable, Sendable {
        case link
        case gate(ServiceName)
        case unit(UnitName)
    }

    private var moments: [Owner: Boottime] = [:]
    /// The least of the moments. It is looked for again after it was removed.
    private var next: Boottime?
    private var mustSearch = false
    /// The moment that was asked for last; nil if that was never, or has come.
    private var asked: Boottime?

    /// Sets the moment of an owner; nil if it waits for nothing.
    mutating func set(_ owner: Owner, to moment: Boottime?) {
        let before = moments[owner]
        guard before != moment else { return }
        moments[owner] = moment
        if before == next { mustSearch = true }
        if let moment, !mustSearch, next.map({ moment < $0 }) ?? true { next = moment }
    }

    /// The owners whose moments have come.
    mutating func wake(at now: Boottime) -> [Owner] {
        asked = nil
        return moments.filter { $0.value <= now }.map(\.key)
    }

    /// Sets the next wake-up if it is another than the last one.
    mutating func sleep() -> [GateEffect] {
        if mustSearch {
            next = moments.values.min()
            mustSearch = false
        }
        guard next != asked else { return [] }
        asked = next
        return [.sleep(next)]
    }
}
