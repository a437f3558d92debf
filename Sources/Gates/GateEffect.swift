package import CivilTime
package import Decision

/// An action of the gates' machine. Effects are performed in their order.
package enum GateEffect: Hashable, Sendable {
    /// Open the bus and list our targets: `attachmentsRead` and `targetsListed`, or `busLost`, follow.
    case connectBus
    /// List our targets again, and these attached units: `attachmentsRead`, `targetsListed` and `unitsListed` follow.
    case list([UnitName])
    /// List these targets and units: `unitsListed` follows, or `busLost`.
    case compare([UnitName])
    /// Subscribe to changes of these units too.
    case subscribe(Set<UnitName>)
    case unsubscribe(Set<UnitName>)
    /// Read all properties of a unit: `unitRead` follows.
    case readUnit(UnitName)
    /// Count the processes of a unit that is down: `processesCounted` follows.
    case countProcesses(UnitName)
    /// Write down what is to be brought about with the targets of a service, before the job that it asks for.
    case publishTargets(ServiceName, TargetOrders)
    /// Have root's mover carry that out: `jobAnswered` follows for this job.
    case enqueue(TargetJob)
    /// Ask whether the system is stopping: `systemStateRead` follows.
    case readSystemState
    /// Start the unit that attaches the units of the configuration: `attachAnswered` follows.
    case attachListed
    /// Read the result of its run: `attachEnded` follows.
    case readAttachOutcome
    /// Write down how the attached units of a service stand.
    case publishUnits(ServiceName, [UnitRow])
    /// Write down what the gate of a service is in fact.
    case publishGate(ServiceName, GateStatus)
    case log(GateLogMessage)
    /// Send `woke` then, instead of at the time asked for before; nil is never.
    case sleep(Boottime?)
}

/// The effects of one event as they gather, and which gates and units it concerns.
struct GateBatch {
    // The calls to systemd.
    var jobs: [TargetJob] = []
    /// The calls but for those beside it, which are made once.
    var others: [GateEffect] = []
    var isReadingSystemState = false
    /// The targets and units that systemd lists, because a signal about them may be lost.
    var compared: Set<UnitName> = []
    private(set) var reads: [UnitName] = []
    private var isRead: Set<UnitName> = []

    private(set) var messages: [GateLogMessage] = []
    /// The gates that are looked at, and whose rows are published, at the end of the event.
    private(set) var services: Set<ServiceName> = []
    /// The units that are judged at the end of the event.
    private(set) var units: Set<UnitName> = []
    /// The gates that have changed, but need not be looked at.
    var altered: Set<ServiceName> = []
    /// Whether every gate may have changed.
    var concernsAll = false
    /// The units that are detached from a target.
    var detached: Set<UnitName> = []
    /// Those of them that no other gate keeps down.
    var freed: Set<UnitName> = []
    /// Those that are tied again, to targets that were started without their units.
    var missed: Set<Attachment> = []

    /// Reads a unit, once. Nil is a target that can have no unit.
    mutating func read(_ unit: UnitName?) {
        guard let unit, isRead.insert(unit).inserted else { return }
        reads.append(unit)
    }

    mutating func log(_ notice: GateLogMessage) { messages.append(notice) }

    /// Has a gate looked at, at the end of the event.
    mutating func recheck(_ service: ServiceName) { services.insert(service) }

    /// Has a unit judged at the end of the event.
    mutating func recheck(_ unit: UnitName) { units.insert(unit) }

    /// The calls to systemd.
    var calls: [GateEffect] {
        others + (isReadingSystemState ? [.readSystemState] : [])
            + reads.map(GateEffect.readUnit)
    }
}
