package import CivilTime

/// Moves gates to their decisions, and follows the units that stop or start: events in, effects out.
///
/// It compares the targets with the decisions, and needs no history: a lost answer, a daemon that was killed
/// between two moves, a bus that was restarted and an administrator who moved a gate all end the same way. It
/// moves targets only if they do not stand as decided: to start an active one would start stopped units again, as
/// an opening during a drain has to.
///
/// A value without a clock or a bus, beside `Machine` and fed by its verdicts. It routes: the state of a gate
/// is its `GateState`, of a unit its `AttachedUnit`, of the bus `SystemdLink`.
package struct GateMachine: Sendable {
    /// A gate for each service that is configured, or that a target was seen of.
    var gates: [ServiceName: GateState] = [:]
    var units: [UnitName: AttachedUnit] = [:]
    var link = SystemdLink()
    var digest = GateDigest()
    var listed: ListedUnits
    /// How many writes of `units.json` and `gate.json` were asked for: where it is the same, every gate is.
    package private(set) var publicationCount = 0

    /// A machine for these services, none of which is decided yet. `listed` are the units that the configuration
    /// attaches to them.
    package init(services: [ServiceName], listed: [ServiceName: [UnitName]] = [:]) {
        self.listed = ListedUnits(listed)
        for service in services { gates[service] = GateState(of: service, isConfigured: true) }
    }

    /// Handles an event at `now`, and returns its effects in their order.
    package mutating func handle(_ event: GateEvent, at now: Boottime) -> [GateEffect] {
        var batch = GateBatch()
        switch event {
        case .started: batch.connect()
        case .decided(let service, let desired, let drainsUntil):
            decide(service, desired, drainsUntil, at: now, &batch)
        case .withdrawn(let service): withdraw(service, &batch)
        case .noticeTold(let service):
            gates[service]?.notice.request(at: now)
            batch.touch(service)
        case .targetsListed(let loaded): takeList(loaded, &batch)
        case .unitsListed(let units): for (unit, seen) in units { see(unit, seen, &batch) }
        case .busLost(let problem): loseBus(problem, at: now, &batch)
        case .systemdReloaded:
            link.noteReload()
            hasten(at: now, &batch)
            listed.hasten(isAnyMissing: digest.isAnyUnitMissing, at: now)
        case .unitChanged(let unit, let seen): see(unit, seen, &batch)
        case .unitRead(let unit, let properties): take(properties, of: unit, &batch)
        case .jobAnswered(let job, let problem, let number):
            if link.jobAnswered(isRefused: problem != nil, at: now, &batch) { touchAll(&batch) }
            take(answer: problem, number, to: job, at: now, &batch)
        case .startFailed(let unit, let start): startFailed(start, of: unit, at: now, &batch)
        case .polkitAppeared:
            hasten(at: now, &batch)
            listed.hasten(isAnyMissing: false, at: now)
        case .busAppeared: link.hasten(&batch)
        case .dropInsRead(let named, let areOfConfiguration):
            listed.dropInsRead(areOfConfiguration: areOfConfiguration, &batch)
            take(named: named, &batch)
        case .unitsListedByConfiguration(let units): listed.configure(units, at: now, &batch)
        case .attachAnswered(let problem): listed.startAnswered(problem, at: now, &batch)
        case .attachEnded(let outcome): listed.runEnded(outcome, &batch)
        case .processesCounted(let unit, let processes):
            units[unit]?.processesCounted(processes)
            touch(unit, &batch)
        case .systemState(let isStopping): take(isStopping: isStopping, at: now, &batch)
        case .publishFailed(let service, let problem):
            gates[service]?.notePublishFailure(problem, at: now, &batch)
            // What was deleted is written again at once, and not with the next event.
            if problem == nil { batch.touch(service) } else { batch.change(service) }
        case .woke: wake(at: now, &batch)
        }
        for unit in batch.units.sorted() { judge(unit, at: now, &batch) }
        listed.advance(link, at: now, &batch)
        let rest = surroundings(now)
        for service in batch.services.sorted() {
            gates[service]?.advance(rest, &batch)
            gates[service]?.passOnNotice(rest, &batch)
            listed.announce(missing(of: service, at: now), of: service, &batch)
        }
        let published = publish(&batch, at: now)
        publicationCount += published.count
        link.ask(forJobs: batch.jobCount, at: now)
        if link.prepare(&batch, at: now) { batch.list(units.keys.sorted()) }
        sum(batch, at: now)
        return batch.calls + digest.subscriptions(&link) + published + batch.announcements
            + digest.sleep()
    }

    // MARK: Decisions

    mutating func decide(
        _ service: ServiceName, _ desired: DesiredGate, _ drainsUntil: Boottime?,
        at now: Boottime, _ batch: inout GateBatch
    ) {
        var gate = gates[service] ?? GateState(of: service, isConfigured: true)
        let isReopened = gate.drain != nil && desired.gate == .open
        if gate.drain(to: desired, until: drainsUntil, at: now) {
            gates[service] = gate
            return batch.touch(service)
        }
        let hasChanged = gate.decide(desired, surroundings(now), &batch)
        gates[service] = gate
        batch.change(service)
        guard hasChanged || isReopened else { return }
        batch.touch(service)
        tellUnits(of: gate, &batch)
        let rest = surroundings(now)
        let mustStart = isReopened && gates[service]?.startAgain(rest) ?? false
        if hasChanged || mustStart { gates[service]?.begin(rest, &batch) }
    }

    private mutating func withdraw(_ service: ServiceName, _ batch: inout GateBatch) {
        gates[service]?.withdraw(&batch)
        batch.change(service)
        if let gate = gates[service] { tellUnits(of: gate, &batch) }
    }

    private mutating func tellUnits(of gate: GateState, _ batch: inout GateBatch) {
        for unit in gate.attached {
            units[unit]?.holders.hear(of: gate)
            batch.touch(unit)
        }
    }

    // MARK: The bus

    /// The bus is there: signals were missed. After a reload of systemd a unit is read when its limit is needed.
    private mutating func takeList(_ loaded: [UnitName: UnitStatus], _ batch: inout GateBatch) {
        let isNew = !link.isUp
        link.connect(&batch)
        var lists: [ServiceName: [GateTarget: UnitStatus]] = [:]
        for (unit, seen) in loaded {
            guard let target = GateTarget(unit) else { continue }
            lists[target.service, default: [:]][target] = seen
        }
        for service in Set(gates.keys).union(lists.keys).sorted() {
            gates[service, default: GateState(of: service, isConfigured: false)]
                .take(list: lists[service] ?? [:], &batch)
            batch.touch(service)
        }
        if isNew { for unit in units.keys { batch.read(unit) } }
        for unit in units.keys { units[unit]?.noteReload() }
    }

    /// No gate is moved until the bus is back.
    private mutating func loseBus(_ problem: String, at now: Boottime, _ batch: inout GateBatch) {
        guard link.lose(problem, at: now, &batch) else { return }
        listed.loseBus()
        for service in gates.keys {
            gates[service]?.loseBus()
            gates[service]?.notice.loseBus()
            batch.touch(service)
        }
    }

    /// Moves that were refused may succeed now: a target that was missing may be there.
    private mutating func hasten(at now: Boottime, _ batch: inout GateBatch) {
        for service in gates.keys.sorted() { gates[service]?.hasten(at: now, &batch) }
    }

    /// Gates that waited for this answer go on, or stay as they are if the system is stopping.
    private mutating func take(isStopping: Bool, at now: Boottime, _ batch: inout GateBatch) {
        link.answer(isStopping: isStopping, at: now)
        batch.changeAll()
        let rest = surroundings(now)
        for service in gates.keys.sorted() {
            if isStopping {
                gates[service]?.pause()
            } else {
                gates[service]?.proceed(rest, &batch)
                closeDrained(service, at: now, &batch)
            }
        }
    }

    // MARK: Targets and units

    private mutating func see(_ unit: UnitName, _ seen: UnitStatus, _ batch: inout GateBatch) {
        if let target = GateTarget(unit) {
            gates[target.service, default: GateState(of: target.service, isConfigured: false)]
                .see(seen, of: target)
            batch.touch(target.service)
        } else if unit == ListedUnits.unit {
            listed.unitSeen(seen, &batch)
        } else if let mustRead = units[unit]?.see(seen) {
            if mustRead { batch.read(unit) }
            touch(unit, &batch)
        }
    }

    /// A unit was read. A unit that could not be read keeps its last known state.
    private mutating func take(
        _ properties: UnitSnapshot?, of unit: UnitName, _ batch: inout GateBatch
    ) {
        link.noteReading(of: unit)
        if let target = GateTarget(unit) {
            takeTarget(properties, of: target, &batch)
        } else if unit == ListedUnits.unit, let properties {
            listed.unitSeen(properties.seen, &batch)
        } else if let services = units[unit]?.services {
            units[unit]?.take(properties)
            for service in services { gates[service]?.noteReading(of: unit) }
            touch(unit, &batch)
        }
    }

    private mutating func takeTarget(
        _ properties: UnitSnapshot?, of target: GateTarget, _ batch: inout GateBatch
    ) {
        var gate = gates[target.service] ?? GateState(of: target.service, isConfigured: false)
        let detached = gate.take(properties, of: target, &batch)
        attach(to: target, of: &gate, without: detached, &batch)
        gates[target.service] = gate
    }

    /// The drop-ins were read. They name units of which systemd has forgotten the drop-in too.
    private mutating func take(named: [GateTarget: Set<UnitName>], _ batch: inout GateBatch) {
        let lists = Dictionary(grouping: named) { $0.key.service }
        for service in Set(gates.keys).union(lists.keys).sorted() {
            var gate = gates[service] ?? GateState(of: service, isConfigured: false)
            let own = (lists[service] ?? []).reduce(into: [:]) { $0[$1.key] = $1.value }
            for (target, detached) in gate.take(named: own, &batch) {
                attach(to: target, of: &gate, without: detached, &batch)
            }
            gates[service] = gate
        }
    }

    /// The units of a target may have changed. `detached` are not attached to it any more.
    private mutating func attach(
        to target: GateTarget, of gate: inout GateState, without detached: Set<UnitName>,
        _ batch: inout GateBatch
    ) {
        batch.touch(target.service)
        for unit in detached {
            if units[unit]?.holders.detach(from: target) == false { units[unit] = nil }
            batch.detach(unit)
        }
        let attached = gate.targets.attachments(to: target)
        for (unit, isStarter) in attached.sorted(by: { $0.key < $1.key }) {
            if units[unit] == nil {
                units[unit] = AttachedUnit(unit)
                // The first list on a connection has all of them read.
                if link.isUp { batch.read(unit) }
                gate.expectArrival(of: unit)
            }
            units[unit]?.holders.attach(
                to: target, isStarter: isStarter, mayRun: gate.permits(target))
            touch(unit, &batch)
        }
    }

    /// systemd has queued a job, or refused it. From then on the units of its gate stop or start.
    private mutating func take(
        answer problem: GateObstacle?, _ number: UInt32, to job: TargetJob, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        let service = job.target.service
        gates[service]?.take(answer: problem, number, to: job, at: now, &batch)
        batch.touch(service)
        for unit in gates[service]?.attached ?? [] { batch.touch(unit) }
    }

    private func touch(_ unit: UnitName, _ batch: inout GateBatch) {
        batch.touch(unit)
        for service in units[unit]?.services ?? [] { batch.touch(service) }
    }

    /// Compares a unit with the permission of its gates, and tells the gates that wait for it.
    private mutating func judge(_ name: UnitName, at now: Boottime, _ batch: inout GateBatch) {
        guard var unit = units[name] else { return }
        let stop = unit.judge(in: situation(of: unit), at: now, &batch)
        if let stop, !batch.contains(.stop(stop)) {
            gates[stop.service]?.enqueue(.stop(stop), &batch)
        }
        for service in unit.services {
            if let took = gates[service]?.noteArrival(of: unit, at: now) {
                unit.noteArrival(after: took)
            }
        }
        units[name] = unit
    }
}
