import CivilTime
import Decision
import Gates
import Support

/// A real machine of gates beside a small systemd, with the calls between them that are on their way, and what is left
/// of the budget of decisions and disturbances. A step leads to the next host.
///
/// An answer or a signal is handled as soon as it is sent. A message on its way would show no more: what the machine
/// does meanwhile is a call, which waits behind the others.
struct ModelHost: Hashable {
    /// A call to systemd that is not answered.
    enum Call: Hashable {
        /// A look of root's mover, after which these jobs are answered.
        case look([TargetJob])
        case read(UnitName)
        case list([UnitName])
        case compare([UnitName])
        case systemState
        case connect
    }

    private(set) var machine = GateMachine(services: [Self.shop])
    var systemd: ModelSystemd
    private(set) var calls: [Call] = []
    private(set) var now = Boottime(microseconds: 0)
    private(set) var wakeAt: Boottime?
    /// The decision that the machine knows; nil before the first.
    private(set) var decision: DesiredGate?
    /// What `gate.json` says.
    private(set) var published: GateStatus?
    /// Where the gate is by the journal, or where the machine has found it.
    private var logged: Gate?
    private(set) var isConnected = false
    /// Whether somebody has started the unit past systemd's conditions: a closing may be over before.
    var isSmuggled = false
    /// Whether systemd refuses jobs.
    var isRefusing = false
    /// What the mover reads, and what it has done.
    private var orders = TargetOrders([])
    private var record = MoverRecord()
    /// The gate as closed: with a state that has a target of its own, or without.
    let closing: DesiredGate
    var decisionsLeft: Int
    var disturbancesLeft: Int
    /// What is wrong here; nil if all properties hold.
    private(set) var violation: String?

    static let shop: ServiceName = "shop"
    static let web: UnitName = "web.service"

    /// A daemon that has just been started on such a system.
    init(_ gate: Gate?, closing: DesiredGate, decisions: Int, disturbances: Int) {
        systemd = ModelSystemd(gate, hasState: closing.state == .maintenance)
        logged = gate
        self.closing = closing
        decisionsLeft = decisions
        disturbancesLeft = disturbances
        handle(.started)
    }

    // MARK: Steps of the world

    /// systemd answers the oldest call.
    mutating func answer() {
        switch calls.removeFirst() {
        case .look(let jobs): look(for: jobs)
        case .read(let name): handle(.unitRead(name, snapshot(of: name)))
        case .list(let names):
            handle(.targetsListed(listed))
            if !names.isEmpty {
                handle(.unitsListed(names.reduce(into: [:]) { $0[$1] = systemd[.web] }))
            }
        case .compare(let names):
            handle(
                .unitsListed(names.reduce(into: [:]) { $0[$1] = snapshot(of: $1).seen }))
        case .systemState: handle(.systemStateRead(isStopping: false))
        case .connect:
            isConnected = true
            handle(.attachmentsRead(AttachmentOutcome()))
            handle(.targetsListed(listed))
        }
    }

    /// The mover does what the file of orders says by now.
    private mutating func look(for jobs: [TargetJob]) {
        let targets = [ModelSystemd.Unit.open, .closed, .maintenance]
        let listed = targets.reduce(into: [GateTarget: ListedTarget]()) { all, unit in
            guard let target = GateTarget(Self.name(of: unit)) else { return }
            all[target] = systemd.listed(unit)
        }
        record.refused = [:]
        for job in TargetJob.inOrder(orders.due(listed, record)) {
            guard !isRefusing, let unit = Self.unit(of: job.target) else {
                record.refused[job] = MoverRecord.Refusal(name: "", words: "denied")
                continue
            }
            if job.isStart { systemd.start(unit) } else { systemd.stop(unit) }
            record.done[job] = MoverRecord.Done(number: orders.number(of: job), job: 1)
        }
        for job in jobs {
            let refusal = record.refused[job]
            handle(.jobAnswered(job, problem: refusal?.obstacle, number: 1))
        }
    }

    /// systemd sends a signal about a unit.
    mutating func signal(_ unit: ModelSystemd.Unit) {
        let seen = systemd.signal(unit)
        if isConnected { handle(.unitChanged(Self.name(of: unit), seen)) }
    }

    /// Whether the machine waits for something. That it compares everything now and then is no wait.
    var isWakeNear: Bool { wakeAt.map { $0 - now < .seconds(600) } ?? false }

    /// Time passes until the machine wants to be woken.
    mutating func wake() {
        guard let moment = wakeAt else { return }
        now = max(now, moment)
        wakeAt = nil
        handle(.woke)
    }

    // MARK: Steps of people

    /// The flags, or an operator, decide. The files are written before the gate moves.
    mutating func decide(_ desired: DesiredGate, drain: Duration? = nil) {
        decisionsLeft -= 1
        // What stands as decided first was no move, and without a bus it cannot know where the gate was.
        if decision == nil, !isConnected || systemd.isUp(.open) == (desired.gate == .open) {
            logged = desired.gate
        }
        decision = desired
        systemd.isMarked = desired.gate == .open
        handle(.decided(Self.shop, desired, drainsUntil: drain.map { now + $0 }))
    }

    /// The bus is restarted: what is on its way is lost, but for looks of the mover, which needs no bus.
    mutating func loseBus() {
        isConnected = false
        calls = calls.filter { if case .look = $0 { true } else { false } }
        handle(.busLost(problem: "the connection to the bus is gone"))
    }

    /// systemd does not tell what was asked first, or says that the system is stopping.
    mutating func spoilAnswer() {
        switch calls.removeFirst() {
        case .read(let name): handle(.unitRead(name, nil))
        case .systemState: handle(.systemStateRead(isStopping: true))
        case .look(let jobs):
            for job in jobs {
                handle(.jobAnswered(job, problem: .refused("Transaction is destructive.")))
            }
        case .list, .compare, .connect: loseBus()
        }
    }

    // MARK: The machine

    mutating func handle(_ event: GateEvent) {
        var jobs: [TargetJob] = []
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .connectBus: calls.append(.connect)
            case .list(let units): calls.append(.list(units))
            case .compare(let units): calls.append(.compare(units))
            case .readUnit(let unit): calls.append(.read(unit))
            case .publishTargets(_, let orders):
                self.orders = orders
                checkOrders()
            case .enqueue(let job):
                checkJob(job)
                jobs.append(job)
            case .readSystemState: calls.append(.systemState)
            case .publishGate(_, let status): published = status
            case .sleep(let moment):
                wakeAt = moment
                if event == .woke, let moment, moment <= now {
                    violation = "wakes at once, again and again"
                }
            case .log(.moved(_, let desired, _, _, _)): checkLog(of: desired.gate)
            case .subscribe, .unsubscribe, .countProcesses, .attachListed, .readAttachOutcome,
                .publishUnits, .log:
                break
            }
        }
        if !jobs.isEmpty { calls.append(.look(jobs)) }
        checkReport()
    }

    // MARK: Properties

    /// The mover moves what the orders name: they name what was decided, and are what it can read.
    private mutating func checkOrders() {
        guard TargetOrders(Array(orders.text.utf8), of: Self.shop) == orders else {
            return violation = "orders that the mover refuses: \(orders.text)"
        }
        for line in orders.lines { checkJob(line.job) }
    }

    /// Never starts while closed, never stops while open, and moves nothing that was not decided.
    private mutating func checkJob(_ job: TargetJob) {
        guard let decision else { return violation = "a job before the first decision" }
        guard decision.targets(of: Self.shop).contains(job.target) == job.isStart else {
            let word = job.isStart ? "starts" : "stops"
            return violation =
                "\(word) \(job.target.kind.word) although decided \(decision.gate.rawValue)"
        }
    }

    /// The log has a move once it is over. systemd may not have told yet that something is otherwise.
    private mutating func checkLog(of gate: Gate) {
        logged = gate
        guard isConnected, systemd.unsignalled.isEmpty else { return }
        let isUnitUp = systemd.isUp(.web) && !isSmuggled
        if systemd.isUp(.open) != (gate == .open) || gate == .closed && isUnitUp {
            violation = "the log says \(gate.rawValue) too early"
        }
    }

    /// Never says down while a unit runs. A signal that is not sent yet is no fault of the machine, nor is a lost bus.
    mutating func checkReport() {
        guard published?.actual == .closed, published?.problem == nil, isConnected,
            systemd.isUp(.web), !systemd.unsignalled.contains(.web)
        else { return }
        violation = "says closed while the unit runs"
    }

    /// What is not as decided in a world where nothing is left to do; nil if everything is. Behind an open gate a unit
    /// may be down that somebody has stopped, or whose problem is told.
    var unsettled: String? {
        guard let decision else { return nil }
        let wanted: GateStatus.Actual = decision.gate == .open ? .open : .closed
        if published?.actual != wanted {
            let words = published?.actual?.rawValue ?? "nothing"
            return "rests, and says \(words) instead of \(wanted.rawValue)"
        }
        if logged != decision.gate {
            return "rests, and the journal lacks that the gate is \(wanted.rawValue)"
        }
        let up = Set(decision.targets(of: Self.shop).compactMap { Self.unit(of: $0) })
        for unit in [ModelSystemd.Unit.open, .closed, .maintenance]
        where systemd.isUp(unit) != up.contains(unit) {
            return "rests, and target \(unit) is \(systemd.isUp(unit) ? "up" : "down")"
        }
        if decision.gate == .closed {
            return systemd.isUp(.web) ? "rests, and the unit is up" : nil
        }
        let isExplained = systemd.isSpoilt || !machine.overview.findings.isEmpty
        return systemd.isUp(.web) || isExplained ? nil : "rests, and the unit is down"
    }
}

// MARK: - Names

extension ModelHost {
    private static func target(_ kind: GateTarget.Kind) -> GateTarget {
        GateTarget(service: shop, kind: kind)
    }

    private static func unit(of target: GateTarget) -> ModelSystemd.Unit? {
        switch target.kind {
        case .open: .open
        case .closed: .closed
        case .maintenance: .maintenance
        case .countdown, .updateRequired, .ended, .notice, .change, .variant: nil
        }
    }

    private static func name(of unit: ModelSystemd.Unit) -> UnitName {
        switch unit {
        case .open: "killswitch-open@shop.target"
        case .closed: "killswitch-closed@shop.target"
        case .maintenance: "killswitch-maintenance@shop.target"
        case .web: web
        }
    }

    /// The targets that are loaded: those that are up, or have a job.
    private var listed: [UnitName: UnitStatus] {
        [ModelSystemd.Unit.open, .closed, .maintenance].reduce(into: [:]) { all, unit in
            let seen = systemd[unit]
            if seen != UnitStatus(.inactive) { all[Self.name(of: unit)] = seen }
        }
    }

    private func snapshot(of name: UnitName) -> UnitSnapshot {
        guard let unit = ModelSystemd.Unit.allCases.first(where: { Self.name(of: $0) == name })
        else { return UnitSnapshot(UnitStatus(.inactive)) }
        var snapshot = UnitSnapshot(systemd[unit])
        switch unit {
        case .open: (snapshot.tied, snapshot.wants) = ([Self.web], [Self.web])
        case .web:
            snapshot.result = systemd.result
            snapshot.isStartRefused = systemd.isStartRefused
            (snapshot.stopLimit, snapshot.startLimit) = (.seconds(10), .seconds(10))
        case .closed, .maintenance: break
        }
        return snapshot
    }
}
