import CivilTime
import Decision

/// What all gates and units come to: the next wake-up, the findings, readiness, and the units whose signals are
/// followed. It is updated with the gates and units that an event has changed, so that an event costs what it concerns.
struct GateSummary: Hashable, Sendable {
    /// In what it is, in the order of the overview.
    private enum Owner: Hashable, Comparable {
        case bus
        case silence
        case gate(ServiceName)
        case orphans(ServiceName)
        case hook(ServiceName, Hook)
        case files(ServiceName)
        case missingUnit(ServiceName, UnitName)
        case untied(ServiceName, UnitName)
        case unit(UnitName)
    }

    var wakeUps = WakeUps()
    private var findings: [Owner: Finding] = [:]
    private var areFindingsChanged = false
    private var log = FindingLog()
    /// The units that the configuration lists and that are not attached, with the reason.
    private var missingUnits: [ServiceName: [UnitName: UnitProblem]] = [:]
    /// The units of which a drop-in has gone, with what to say of it.
    private var lostUnits: [ServiceName: [UnitName: String]] = [:]
    /// The gates that the daemon's readiness waits for.
    private var awaited: Set<ServiceName> = []
    /// How many targets of each gate are followed.
    private var subscribedTargets: [ServiceName: Int] = [:]
    private var subscribed: Set<UnitName> = []
    /// The changes of `subscribed` that systemd was not told of.
    private var (added, removed): (Set<UnitName>, Set<UnitName>) = ([], [])

    // MARK: Changes

    /// Sets what is wrong with an owner; nil for nothing.
    private mutating func set(_ owner: Owner, to finding: Finding?) {
        guard findings[owner] != finding else { return }
        findings[owner] = finding
        areFindingsChanged = true
    }

    /// The lines about what came and what is over.
    mutating func lines(at now: Boottime) -> [GateLogMessage] {
        guard areFindingsChanged else { return [] }
        areFindingsChanged = false
        let present = findings.sorted { $0.key < $1.key }.map(\.value)
        let (over, came) = log.update(to: present, at: now)
        return over.map(GateLogMessage.over) + came.map(GateLogMessage.came)
    }

    mutating func update(link: SystemdLink) {
        wakeUps.set(.link, to: link.wakeUp)
        set(
            .bus,
            to: link.problem.map {
                Finding(
                    .host, .bus,
                    "gates: \($0); gates move all the same, and units are unknown until the bus is back"
                )
            })
        let silence = "\(GateObstacle.silence); no gate is moved until it does"
        set(
            .silence,
            to: link.unanswered.problem != nil ? Finding(.host, .moverSilent, silence) : nil)
    }

    /// The units that the configuration lists have changed, or are being attached.
    mutating func update(listed: ListedUnits, _ link: SystemdLink, at now: Boottime) {
        wakeUps.set(.listed, to: listed.wakeUp(link, at: now))
        guard let unit = ListedUnits.unit else { return }
        if listed.isSubscribed { subscribe(to: unit) } else { unsubscribe(from: unit) }
    }

    /// Other units of a service are listed and not attached.
    mutating func update(missing: [UnitName: UnitProblem], of service: ServiceName) {
        for unit in (missingUnits[service] ?? [:]).keys where missing[unit] == nil {
            set(.missingUnit(service, unit), to: nil)
        }
        missingUnits[service] = missing.isEmpty ? nil : missing
        for (unit, problem) in missing {
            let finding = problem.finding(of: unit, [service], matter: problem.sentence)
            set(.missingUnit(service, unit), to: finding)
        }
    }

    /// Drop-ins of other units of a service have gone.
    mutating func update(lost: [UnitName: String], of service: ServiceName) {
        for unit in (lostUnits[service] ?? [:]).keys where lost[unit] == nil {
            set(.untied(service, unit), to: nil)
        }
        lostUnits[service] = lost.isEmpty ? nil : lost
        for (unit, text) in lost {
            set(.untied(service, unit), to: Finding(.unit(unit, of: [service]), .unitUntied, text))
        }
    }

    var missing: [ListedUnit: UnitProblem] {
        missingUnits.reduce(into: [:]) { all, own in
            for (unit, problem) in own.value {
                all[ListedUnit(service: own.key, name: unit)] = problem
            }
        }
    }

    var isAnyUnitMissing: Bool { !missingUnits.isEmpty }

    mutating func update(gate: GateState, kept: Set<UnitName>, _ link: SystemdLink) {
        let service = gate.service
        wakeUps.set(.gate(service), to: gate.wakeUp(link))
        let orphans =
            gate.orphans.isEmpty
            ? (kept.isEmpty ? nil : Finding.unlisted(kept)) : Finding.orphans(gate.orphans)
        // Silence is told of systemd, and not of each gate.
        let obstacle = gate.problem(link)
        let files = gate.files.problem.map {
            "cannot write the files of its gate, which may stay as it is: \($0); retrying"
        }
        for (owner, kind, text) in [
            (
                Owner.gate(service), Finding.Kind.gate,
                obstacle == link.unanswered.problem ? nil : obstacle?.sentence
            ),
            (.hook(service, .notice), .notice, gate.hooks[.notice]?.problem),
            (.hook(service, .change), .notice, gate.hooks[.change]?.problem),
            (.orphans(service), .unitsOrphaned, orphans),
            (.files(service), .runtimeDirectory, files),
        ] { set(owner, to: text.map { Finding(.service(service), kind, $0) }) }
        if gate.isReady { awaited.remove(service) } else { awaited.insert(service) }
        // A gate loses no target.
        guard subscribedTargets[service] != gate.targets.count else { return }
        subscribedTargets[service] = gate.targets.count
        for unit in gate.targets.units { subscribe(to: unit) }
    }

    /// A unit has changed; nil if it is not attached any more.
    mutating func update(unit: AttachedUnit?, named name: UnitName) {
        wakeUps.set(.unit(name), to: unit?.wakeUp)
        set(.unit(name), to: unit.flatMap { $0.problem?.finding(of: name, $0.services) })
        if unit != nil { subscribe(to: name) } else { unsubscribe(from: name) }
    }

    private mutating func unsubscribe(from unit: UnitName) {
        guard subscribed.remove(unit) != nil, added.remove(unit) == nil else { return }
        removed.insert(unit)
    }

    private mutating func subscribe(to unit: UnitName) {
        guard subscribed.insert(unit).inserted, removed.remove(unit) == nil else { return }
        added.insert(unit)
    }

    // MARK: Effects

    /// Follows the signals of other units. A new connection follows nothing yet.
    mutating func subscriptions(_ link: inout SystemdLink) -> [GateEffect] {
        guard link.isUp else { return [] }
        if link.startSubscribing() { (added, removed) = (subscribed, []) }
        defer { (added, removed) = ([], []) }
        return (removed.isEmpty ? [] : [.unsubscribe(removed)])
            + (added.isEmpty ? [] : [.subscribe(added)])
    }

    var overview: GateOverview {
        GateOverview(isReady: awaited.isEmpty, findings: log.present)
    }
}

/// The moments at which time alone changes something. Of all of them only the next is asked for.
struct WakeUps: Hashable, Sendable {
    /// What looks at itself when its moment has come.
    enum Owner: Hashable, Sendable {
        case link
        case listed
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
    mutating func nextWake() -> [GateEffect] {
        if mustSearch {
            next = moments.values.min()
            mustSearch = false
        }
        guard next != asked else { return [] }
        asked = next
        return [.sleep(next)]
    }
}

/// The wake-ups of the machine, and the summary at the end of an event.
extension GateMachine {
    /// Looks at everything that time has changed.
    mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        for owner in summary.wakeUps.wake(at: now) {
            switch owner {
            case .link: if link.wake(at: now, &batch) { recheckAll(&batch) }
            case .listed: listed.recheck(&batch)
            case .gate(let service):
                batch.recheck(service)
                closeDrained(service, at: now, &batch)
            case .unit(let unit): batch.recheck(unit)
            }
        }
    }

    /// Has every gate looked at: what is known of systemd has changed.
    func recheckAll(_ batch: inout GateBatch) { gates.keys.forEach { batch.recheck($0) } }

    /// Has a unit looked at, and its gates.
    func recheck(_ unit: UnitName, _ batch: inout GateBatch) {
        batch.recheck(unit)
        for service in units[unit]?.services ?? [] { batch.recheck(service) }
    }

    /// Adds up what the event has changed.
    mutating func updateSummary(_ batch: GateBatch, at now: Boottime) {
        summary.update(link: link)
        summary.update(listed: listed, link, at: now)
        let changed = batch.concernsAll ? Set(gates.keys) : batch.services.union(batch.altered)
        for service in changed {
            summary.update(missing: missing(of: service, at: now), of: service)
            summary.update(lost: listed.losses(of: service, at: now), of: service)
            if let gate = gates[service] {
                summary.update(gate: gate, kept: listed.kept(of: service), link)
            }
        }
        for unit in batch.units.union(batch.detached) {
            summary.update(unit: units[unit], named: unit)
        }
    }
}
