import CivilTime
import Decision
import Gates

/// The gates' machine of a daemon, with a systemd that does each job at once and a unit at each open target.
struct StandInGates {
    private(set) var wake: Boottime?
    /// What each gate is in fact, as it was published last.
    private(set) var reports: [ServiceName: GateStatus] = [:]
    private let services: [ServiceName]
    private var machine: GateMachine
    /// The targets and units that are up.
    private var active: Set<UnitName> = []
    private var queue: [GateEvent] = []
    /// Whether a target or a unit has gone up or down since the last look.
    private var hasMoved = false

    /// The closed gates of a host that has booted; their daemon is not started.
    init(_ services: [ServiceName]) {
        self.services = services
        machine = GateMachine(services: services)
    }

    /// A new daemon starts. A reboot has stopped everything before.
    mutating func start(isReboot: Bool, at now: Boottime) {
        machine = GateMachine(services: services)
        (wake, reports) = (nil, [:])
        if isReboot { active = [] }
        post(.started, at: now)
    }

    mutating func publish(_ record: PublishedVerdict, of service: ServiceName, at now: Boottime) {
        guard let desired = DesiredGate(record.verdict) else { return }
        post(.decided(service, desired, drainsUntil: record.drainsUntil), at: now)
    }

    mutating func wakeIfDue(at now: Boottime) {
        if let wake, wake <= now {
            self.wake = nil
            post(.woke, at: now)
        }
    }

    /// Whether a target or a unit has gone up or down since this was asked last.
    mutating func popMoved() -> Bool {
        defer { hasMoved = false }
        return hasMoved
    }

    func isUnitUp(_ service: ServiceName) -> Bool {
        unit(of: service).map(active.contains) ?? false
    }

    func isUp(_ kind: GateTarget.Kind, of service: ServiceName) -> Bool {
        GateTarget(service: service, kind: kind).unit.map(active.contains) ?? false
    }

    // MARK: The machine

    private mutating func post(_ event: GateEvent, at now: Boottime) {
        queue.append(event)
        var taken = 0
        while taken < queue.count {
            let effects = machine.handle(queue[taken], at: now)
            taken += 1
            for effect in effects { perform(effect) }
        }
        queue.removeAll(keepingCapacity: true)
    }

    private mutating func perform(_ effect: GateEffect) {
        switch effect {
        case .connectBus: queue.append(.targetsListed(status(of: active.filter { isTarget($0) })))
        case .list(let units):
            queue.append(.targetsListed(status(of: active.filter { isTarget($0) })))
            queue.append(.unitsListed(status(of: Set(units))))
        case .compare(let units): queue.append(.unitsListed(status(of: Set(units))))
        case .readUnit(let unit): queue.append(.unitRead(unit, snapshot(of: unit)))
        case .enqueue(let job):
            queue.append(.jobAnswered(job, problem: nil))
            for unit in run(job) { queue.append(.unitChanged(unit, status(of: unit))) }
        case .readSystemState: queue.append(.systemStateRead(isStopping: false))
        case .publishGate(let service, let report): reports[service] = report
        case .sleep(let moment): wake = moment
        case .subscribe, .unsubscribe, .publishTargets, .publishUnits, .log, .attachListed,
            .readAttachOutcome, .countProcesses:
            break
        }
    }

    // MARK: systemd

    /// Does a job, and returns the units that have changed. The open target and its unit go up and down together.
    private mutating func run(_ job: TargetJob) -> Set<UnitName> {
        let before = active
        if job.isStart {
            start(job.target)
            // `Wants=` of the templates.
            if [.maintenance, .ended].contains(job.target.kind) {
                start(GateTarget(service: job.target.service, kind: .closed))
            }
        } else if let unit = job.target.unit {
            active.remove(unit)
        }
        if let unit = unit(of: job.target.service) {
            if isUp(.open, of: job.target.service) {
                active.insert(unit)
            } else {
                active.remove(unit)
            }
        }
        hasMoved = hasMoved || active != before
        return before.symmetricDifference(active)
    }

    private mutating func start(_ target: GateTarget) {
        if let unit = target.unit { active.insert(unit) }
        for kind in Self.conflicts(of: target.kind) {
            if let other = GateTarget(service: target.service, kind: kind).unit {
                active.remove(other)
            }
        }
    }

    /// `Conflicts=` of the templates in packaging/systemd, in both directions.
    private static func conflicts(of kind: GateTarget.Kind) -> [GateTarget.Kind] {
        switch kind {
        case .open: [.closed, .maintenance, .ended]
        case .closed: [.open, .countdown]
        case .countdown: [.closed, .updateRequired, .maintenance, .ended]
        case .updateRequired: [.countdown, .maintenance, .ended]
        case .maintenance: [.open, .countdown, .updateRequired, .ended]
        case .ended: [.open, .countdown, .updateRequired, .maintenance]
        case .notice, .change, .variant: []
        }
    }

    private func unit(of service: ServiceName) -> UnitName? { UnitName("\(service)-app.service") }

    private func isTarget(_ unit: UnitName) -> Bool { GateTarget(unit) != nil }

    private func status(of unit: UnitName) -> UnitStatus {
        UnitStatus(active.contains(unit) ? .active : .inactive)
    }

    private func status(of units: Set<UnitName>) -> [UnitName: UnitStatus] {
        units.reduce(into: [:]) { $0[$1] = status(of: $1) }
    }

    private func snapshot(of unit: UnitName) -> UnitSnapshot {
        var snapshot = UnitSnapshot(status(of: unit))
        if let target = GateTarget(unit), target.kind == .open,
            let attached = self.unit(of: target.service)
        {
            (snapshot.tied, snapshot.wants) = ([attached], [attached])
        }
        return snapshot
    }
}
