package import CivilTime
package import Decision

/// Moves gates to their decisions, and follows the units that stop or start: events in, effects out.
///
/// It compares the targets with the decisions, and moves nothing by a memory alone: a lost answer, a killed daemon, a
/// restarted bus and an administrator who moved a gate all end the same way. It moves only targets that do not stand as
/// decided: to start an active one would start stopped units again, as an opening during a drain has to.
///
/// A value without a clock or a bus, beside `Machine` and fed by its verdicts. It routes: the state of a gate
/// is its `GateState`, of a unit its `AttachedUnit`, of the bus `SystemdLink`. Equal machines have equal futures, so
/// that a test can visit every state that can be reached.
package struct GateMachine: Hashable, Sendable {
    /// A gate for each service that is or was configured, or that units are attached to, and for nothing else: anybody
    /// may have systemd load a target of any name.
    var gates: [ServiceName: GateState] = [:]
    var units: [UnitName: AttachedUnit] = [:]
    var link = SystemdLink()
    var summary = GateSummary()
    var listed: ListedUnits

    /// A machine for these services, none of them decided. The configuration attaches the `listed` units to them.
    package init(services: [ServiceName], listed: [ServiceName: [ConfiguredUnit]] = [:]) {
        self.listed = ListedUnits(listed)
        for service in services { gates[service] = GateState(of: service, isConfigured: true) }
    }

    /// Handles an event at `now`, and returns its effects in their order.
    package mutating func handle(_ event: GateEvent, at now: Boottime) -> [GateEffect] {
        var batch = GateBatch()
        switch event {
        case .started: batch.others.append(.connectBus)
        case .decided(let service, let desired, let drainsUntil):
            decide(service, desired, drainsUntil, at: now, &batch)
        case .openingDelayed(let service):
            gates[service]?.drain?.hold()
            batch.recheck(service)
        case .withdrawn(let service): withdraw(service, &batch)
        case .announced(let service, let hook):
            gates[service]?.announce(hook, at: now)
            batch.recheck(service)
        case .targetsListed(let loaded): targetsListed(loaded, &batch)
        case .unitsListed(let units): for (unit, seen) in units { unitChanged(unit, seen, &batch) }
        case .busLost(let problem): busLost(problem, at: now, &batch)
        case .systemdReloaded:
            link.mustListAgain()
            retryNow(at: now, &batch)
            listed.retryNow(isAnyMissing: summary.isAnyUnitMissing, at: now)
        case .unitChanged(let unit, let seen): unitChanged(unit, seen, &batch)
        case .unitRead(let unit, let properties): unitRead(properties, of: unit, at: now, &batch)
        case .jobAnswered(let job, let problem, let number):
            jobAnswered(problem, number, to: job, at: now, &batch)
        case .startFailed(let unit, let job, let isByAssertion):
            startFailed(of: unit, job: job, isByAssertion: isByAssertion, at: now, &batch)
        case .busAppeared: link.retryNow(&batch)
        case .attachmentsRead(let outcome):
            listed.attachmentsRead(outcome, &batch)
            attachmentsRead(outcome, &batch)
        case .unitsListedByConfiguration(let units): listed.configure(units, at: now, &batch)
        case .attachAnswered(let problem): listed.startAnswered(problem, at: now, &batch)
        case .attachEnded(let outcome):
            if listed.runEnded(outcome, &batch) { link.mustListAgain() }
            attachmentsRead(outcome, &batch)
        case .processesCounted(let unit, let processes):
            units[unit]?.left.counted(processes)
            recheck(unit, &batch)
        case .systemStateRead(let isStopping):
            systemStateRead(isStopping: isStopping, at: now, &batch)
        case .writeFailed(let service, let problem):
            gates[service]?.writeFailed(problem, at: now)
            batch.altered.insert(service)
        case .filesDeleted(let service):
            gates[service]?.files.filesDeleted()
            gates[service]?.ordersDeleted()
            batch.recheck(service)
        case .woke: wake(at: now, &batch)
        }
        for unit in batch.units.sorted() { checkUnit(unit, at: now, &batch) }
        listed.compare(gates, units, isReading: link.isReading(batch), at: now, &batch)
        for unit in batch.freed.sorted() { startFreed(unit, at: now, &batch) }
        for attachment in batch.missed.sorted() { startMissed(attachment, at: now, &batch) }
        listed.advance(link, haveUnits: !units.isEmpty, at: now, &batch)
        let context = context(now)
        for service in batch.services.sorted() {
            gates[service]?.advance(context, &batch)
            gates[service]?.runHooks(context, &batch)
        }
        let orders = batch.services.union(batch.altered).sorted().compactMap { service in
            gates[service]?.changedOrders(at: now).map { GateEffect.publishTargets(service, $0) }
        }
        let published = publish(&batch, at: now)
        link.unanswered.jobsSent(batch.jobs.count, at: now)
        if !batch.compared.isEmpty { batch.others.append(.compare(batch.compared.sorted())) }
        if link.prepare(&batch, at: now) { batch.others.append(.list(units.keys.sorted())) }
        updateSummary(batch, at: now)
        // A unit that changes after it was read sends a signal, and the signal comes to those who have subscribed.
        return orders + batch.jobs.map(GateEffect.enqueue) + summary.subscriptions(&link)
            + batch.calls + published
            + (batch.messages + summary.lines(at: now)).map(GateEffect.log)
            + summary.wakeUps.nextWake()
    }

    // MARK: Decisions

    mutating func decide(
        _ service: ServiceName, _ desired: DesiredGate, _ drainsUntil: Boottime?,
        at now: Boottime, _ batch: inout GateBatch
    ) {
        // Its targets may be active already.
        if gates[service] == nil { link.mustListAgain() }
        var gate = gates[service] ?? GateState(of: service, isConfigured: true)
        // Behind the marker starts were refused, also if somebody has started the target by hand.
        let wasClosed = gate.drain != nil || gate.desired?.gate == .closed
        let isReopened = wasClosed && desired.gate == .open
        if gate.drain(to: desired, until: drainsUntil, at: now) {
            gates[service] = gate
            return batch.recheck(service)
        }
        // The first decision moves nothing that stands: it has no number.
        let isNewGate = gate.desired.map { $0.gate != desired.gate } ?? false
        let hasChanged = gate.decide(desired, context(now), &batch)
        gates[service] = gate
        batch.altered.insert(service)
        guard hasChanged || isReopened else { return }
        batch.recheck(service)
        updatePermissions(by: gate, &batch)
        let context = context(now)
        let mustStart = isReopened && gates[service]?.startAgain(context) ?? false
        if isNewGate || mustStart { gates[service]?.numberMove(at: now) }
        if hasChanged || mustStart { gates[service]?.startMove(context, &batch) }
    }

    private mutating func withdraw(_ service: ServiceName, _ batch: inout GateBatch) {
        gates[service]?.withdraw()
        batch.altered.insert(service)
        if let gate = gates[service] { updatePermissions(by: gate, &batch) }
    }

    private mutating func updatePermissions(by gate: GateState, _ batch: inout GateBatch) {
        for unit in gate.attached {
            units[unit]?.updatePermission(by: gate)
            batch.recheck(unit)
        }
    }

    // MARK: The bus

    /// The bus is there: signals were missed. After a reload of systemd limits and ties may be others.
    private mutating func targetsListed(_ loaded: [UnitName: UnitStatus], _ batch: inout GateBatch)
    {
        if !link.isUp {
            for unit in units.keys { units[unit]?.busConnected() }
        }
        link.connect()
        var lists: [ServiceName: [GateTarget: UnitStatus]] = [:]
        for (unit, seen) in loaded {
            guard let target = GateTarget(unit) else { continue }
            lists[target.service, default: [:]][target] = seen
        }
        for service in gates.keys.sorted() {
            gates[service]?.targetsListed(lists.removeValue(forKey: service) ?? [:], &batch)
            batch.recheck(service)
        }
        for target in lists.values.flatMap(\.keys).sorted() { batch.read(target.unit) }
        for unit in units.keys.sorted() { batch.read(unit) }
    }

    private mutating func busLost(_ problem: String, at now: Boottime, _ batch: inout GateBatch) {
        guard link.connectionLost(problem, at: now) else { return }
        listed.busLost()
        for service in gates.keys {
            gates[service]?.busLost()
            gates[service]?.hooksWaitForBus()
            batch.recheck(service)
        }
    }

    /// Moves that were refused may succeed now: a target that was missing may be there.
    private mutating func retryNow(at now: Boottime, _ batch: inout GateBatch) {
        for service in gates.keys.sorted() { gates[service]?.retryNow(at: now, &batch) }
    }

    /// Gates that waited for this answer go on, or stay as they are if the system is stopping.
    private mutating func systemStateRead(
        isStopping: Bool, at now: Boottime, _ batch: inout GateBatch
    ) {
        link.systemStateRead(isStopping: isStopping, at: now)
        batch.concernsAll = true
        let context = context(now)
        for service in gates.keys.sorted() {
            if isStopping {
                gates[service]?.pause()
            } else {
                gates[service]?.resume(context, &batch)
                closeDrained(service, at: now, &batch)
            }
        }
    }

    // MARK: Targets and units

    private mutating func unitChanged(
        _ unit: UnitName, _ seen: UnitStatus, _ batch: inout GateBatch
    ) {
        if let target = GateTarget(unit) {
            gates[target.service]?.targets.targetChanged(to: seen, of: target)
            batch.recheck(target.service)
        } else if unit == ListedUnits.unit {
            listed.unitSeen(seen, &batch)
        } else if let mustRead = units[unit]?.statusChanged(to: seen) {
            if mustRead { batch.read(unit) }
            recheck(unit, &batch)
        }
    }

    /// A unit was read. A unit that could not be read keeps its last known state, and is read again.
    private mutating func unitRead(
        _ properties: UnitSnapshot?, of unit: UnitName, at now: Boottime, _ batch: inout GateBatch
    ) {
        link.unitRead(unit, isKnown: properties != nil, at: now)
        if let target = GateTarget(unit) {
            targetRead(properties, of: target, &batch)
        } else if unit == ListedUnits.unit, let properties {
            listed.unitSeen(properties.seen, &batch)
        } else if let services = units[unit]?.services {
            units[unit]?.update(from: properties)
            for service in services { gates[service]?.phase.move?.unitRead(unit) }
            recheck(unit, &batch)
        }
    }

    private mutating func targetRead(
        _ properties: UnitSnapshot?, of target: GateTarget, _ batch: inout GateBatch
    ) {
        let known = gates[target.service]
        guard known != nil || properties?.tied.isEmpty == false else { return }
        var gate = known ?? GateState(of: target.service, isConfigured: false)
        let detached = gate.targetRead(properties, of: target, &batch)
        attach(to: target, of: &gate, without: detached, &batch)
        gates[target.service] = gate
    }

    /// The gates hold these units. Among them are units of which systemd has forgotten the drop-in.
    private mutating func attachmentsRead(
        _ outcome: AttachmentOutcome, _ batch: inout GateBatch
    ) {
        let named: [GateTarget: Set<UnitName>] = (outcome.wanted + outcome.kept).reduce(into: [:]) {
            $0[$1.target, default: []].insert($1.unit)
        }
        let lists = Dictionary(grouping: named) { $0.key.service }
        for service in Set(gates.keys).union(lists.keys).sorted() {
            var gate = gates[service] ?? GateState(of: service, isConfigured: false)
            let own = (lists[service] ?? []).reduce(into: [:]) { $0[$1.key] = $1.value }
            for (target, detached) in gate.attachmentsRead(own, &batch) {
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
        batch.recheck(target.service)
        for unit in detached {
            let wasHeld = units[unit]?.permission == .mustStop
            if units[unit]?.detach(from: target) == false { units[unit] = nil }
            if wasHeld, units[unit]?.permission == .mayRun { batch.freed.insert(unit) }
            batch.detached.insert(unit)
        }
        let attached = gate.targets.attachments(to: target)
        for (unit, isStarter) in attached.sorted(by: { $0.key < $1.key }) {
            if units[unit] == nil {
                units[unit] = AttachedUnit(unit)
                // The first list on a connection has all of them read.
                if link.isUp { batch.read(unit) }
                gate.phase.move?.expectArrival(of: unit)
            }
            units[unit]?.holders[target] = AttachedUnit.Holder(
                isStarter: isStarter, mayRun: gate.permits(target))
            recheck(unit, &batch)
        }
    }

    /// A unit is tied again to a target that was started without it.
    private mutating func startMissed(
        _ attachment: Attachment, at now: Boottime, _ batch: inout GateBatch
    ) {
        let target = attachment.target
        guard target.kind != .open else { return startFreed(attachment.unit, at: now, &batch) }
        gates[target.service]?.startAgain(target, at: now, &batch)
    }

    /// A unit is detached from the gate that kept it down: those that permit it start it.
    private mutating func startFreed(
        _ name: UnitName, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard let unit = units[name], unit.isDown else { return }
        for service in unit.services.sorted() where !unit.starters(of: service).isEmpty {
            let context = context(now)
            guard gates[service]?.startAgain(context) ?? false else { continue }
            gates[service]?.numberMove(at: now)
            gates[service]?.startMove(context, &batch)
            batch.recheck(service)
        }
    }

    /// systemd has taken a job, or refuses it. From then on the units of its gate stop or start.
    private mutating func jobAnswered(
        _ problem: GateObstacle?, _ number: UInt32, to job: TargetJob, at now: Boottime,
        _ batch: inout GateBatch
    ) {
        if link.unanswered.jobAnswered(at: now) {
            recheckAll(&batch)
        }
        let service = job.target.service
        gates[service]?.jobAnswered(problem, number, to: job, at: now, &batch)
        batch.recheck(service)
        for unit in gates[service]?.attached ?? [] { batch.recheck(unit) }
    }

    /// Compares a unit with the permission of its gates, and tells the gates that wait for it.
    private mutating func checkUnit(_ name: UnitName, at now: Boottime, _ batch: inout GateBatch) {
        guard var unit = units[name] else { return }
        let stop = unit.enforcePermission(in: context(of: unit), at: now, &batch)
        if let stop, !batch.jobs.contains(.stop(stop)) {
            gates[stop.service]?.stopAgain(stop, at: now, &batch)
        }
        for service in unit.services {
            if gates[service]?.phase.move?.unitArrived(unit, at: now) == true {
                unit.arrived(after: gates[service]?.phase.move?.took[name])
            }
        }
        units[name] = unit
    }
}
