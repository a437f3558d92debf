package import CivilTime

/// What is to be done about gates, in this order.
package enum GateEffect: Hashable, Sendable {
    /// Open the bus and list our units: `listed` or `lost` follows.
    case connect
    /// List our units again.
    case list
    /// Hear of changes of exactly these units.
    case follow(Set<UnitName>)
    /// Ask for everything about a unit: `read` follows.
    case read(UnitName)
    /// Have systemd start or stop a target: `answered` follows.
    case move(Move)
    /// Ask whether the system is stopping: `systemState` follows.
    case askSystemState
    /// Write down how the attached units of a service stand.
    case publish(ServiceName, [UnitRow])
    case announce(GateNotice)
    /// Send `woke` then, instead of at the time asked for before; nil is never.
    case sleep(Boottime?)
}

/// The effects of one event as they gather, and which gates and units it concerns.
struct GateBatch {
    private var moves: [Move] = []
    private var isConnecting = false
    private var isListing = false
    private(set) var isAsking = false
    private var reads: [UnitName] = []
    private var notices: [GateNotice] = []
    /// The gates that are looked at, and whose rows are published, before the event is done with.
    private(set) var services: Set<ServiceName> = []
    /// The units that are judged before the event is done with.
    private(set) var units: Set<UnitName> = []

    mutating func connect() { isConnecting = true }

    mutating func list() { isListing = true }

    mutating func askSystemState() { isAsking = true }

    mutating func move(_ move: Move) { moves.append(move) }

    func contains(_ move: Move) -> Bool { moves.contains(move) }

    /// Reads a unit, once. Nil is a target that can have no unit.
    mutating func read(_ unit: UnitName?) {
        guard let unit, !reads.contains(unit) else { return }
        reads.append(unit)
    }

    mutating func announce(_ notice: GateNotice) { notices.append(notice) }

    mutating func touch(_ service: ServiceName) { services.insert(service) }

    mutating func touch(_ unit: UnitName) { units.insert(unit) }

    /// What systemd is asked for. The moves come first: closing does not wait for questions.
    func calls(askingSystemState isAsking: Bool) -> [GateEffect] {
        moves.map(GateEffect.move) + (isConnecting ? [.connect] : []) + (isListing ? [.list] : [])
            + (isAsking ? [.askSystemState] : []) + reads.map(GateEffect.read)
    }

    /// What is said in the end.
    var announcements: [GateEffect] { notices.map(GateEffect.announce) }
}

/// What a gate has to know of everything else, at one moment.
struct GateSurroundings {
    let units: [UnitName: AttachedUnit]
    let link: SystemdLink
    let now: Boottime
}
