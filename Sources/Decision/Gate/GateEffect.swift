package import CivilTime

/// An action of the gates' machine. Effects are performed in their order.
package enum GateEffect: Hashable, Sendable {
    /// Open the bus and list our units: `unitsListed` or `busLost` follows.
    case connectBus
    /// List our units again.
    case listUnits
    /// Subscribe to changes of exactly these units.
    case subscribe(Set<UnitName>)
    /// Read all properties of a unit: `unitRead` follows.
    case readUnit(UnitName)
    /// Have systemd start or stop a target: `jobAnswered` follows.
    case enqueue(TargetJob)
    /// Ask whether the system is stopping: `systemState` follows.
    case askSystemState
    /// Write down how the attached units of a service stand.
    case publishUnits(ServiceName, [UnitRow])
    /// Write a line to the log.
    case announce(GateNotice)
    /// Send `woke` then, instead of at the time asked for before; nil is never.
    case sleep(Boottime?)
}

/// The effects of one event as they gather, and which gates and units it concerns.
struct GateBatch {
    private var jobs: [TargetJob] = []
    private var isConnecting = false
    private var isListing = false
    private(set) var isAsking = false
    private var reads: [UnitName] = []
    private var notices: [GateNotice] = []
    /// The gates that are looked at, and whose rows are published, at the end of the event.
    private(set) var services: Set<ServiceName> = []
    /// The units that are judged at the end of the event.
    private(set) var units: Set<UnitName> = []

    /// Opens the bus.
    mutating func connect() { isConnecting = true }

    /// Lists our units again.
    mutating func list() { isListing = true }

    /// Asks whether the system is stopping, unless that question is in flight.
    mutating func askSystemState() { isAsking = true }

    /// Asks systemd for a job.
    mutating func enqueue(_ job: TargetJob) { jobs.append(job) }

    /// Whether a job is asked for already.
    func contains(_ job: TargetJob) -> Bool { jobs.contains(job) }

    /// Reads a unit, once. Nil is a target that can have no unit.
    mutating func read(_ unit: UnitName?) {
        guard let unit, !reads.contains(unit) else { return }
        reads.append(unit)
    }

    /// Announces a notice at the end of the event.
    mutating func announce(_ notice: GateNotice) { notices.append(notice) }

    /// Has a gate looked at, at the end of the event.
    mutating func touch(_ service: ServiceName) { services.insert(service) }

    /// Has a unit judged at the end of the event.
    mutating func touch(_ unit: UnitName) { units.insert(unit) }

    /// The calls to systemd. The jobs come first: a closing does not wait for questions.
    func calls(askingSystemState isAsking: Bool) -> [GateEffect] {
        jobs.map(GateEffect.enqueue) + (isConnecting ? [.connectBus] : [])
            + (isListing ? [.listUnits] : [])
            + (isAsking ? [.askSystemState] : []) + reads.map(GateEffect.readUnit)
    }

    /// The notices, after the other effects.
    var announcements: [GateEffect] { notices.map(GateEffect.announce) }
}

/// The state outside of a gate that its decisions need, at one moment.
struct GateSurroundings {
    let units: [UnitName: AttachedUnit]
    let link: SystemdLink
    let now: Boottime
}
