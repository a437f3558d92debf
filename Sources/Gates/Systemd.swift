import Bus
import Decision
import EventLoop

/// systemd's manager on the bus: asks and is told, decides nothing. What it hears is given on as
/// events, the loss of the connection too.
final class Systemd {
    private let loop: EventLoop
    private let address: String
    private let post: (GateEvent) -> Void
    private var connection: Connection?

    /// One connection, and what it is subscribed to.
    private struct Connection {
        let bus: Bus
        var matches: [Match] = []
        var signals: UnitSignals
    }

    /// `address` is that of the bus.
    init(_ loop: EventLoop, address: String, post: @escaping (GateEvent) -> Void) {
        self.loop = loop
        self.address = address
        self.post = post
    }

    /// Begins a new connection. Signals are asked for before the list, so that nothing is missed in
    /// between.
    func connect() {
        connection = nil
        attempt { () throws(BusError) in
            let bus = try Bus(loop, address: address) { [unowned self] in
                post(.busLost(problem: "the connection to the bus is gone"))
            }
            var connection = Connection(
                bus: bus,
                signals: UnitSignals(bus) { [unowned self] unit, seen in
                    post(.unitChanged(unit, seen))
                })
            connection.matches = try [
                Match(bus, Self.rule("Manager", "Reloading")) { [unowned self] message in
                    reloading(message)
                },
                // systemd itself was replaced, as by daemon-reexec: it knows no subscriber any more.
                Match(bus, Self.restarts) { [unowned self] _ in subscribe() },
            ]
            self.connection = connection
        }
        subscribe()
        list()
    }

    /// Lets go of the connection.
    func disconnect() { connection = nil }

    /// Lists our units: `unitsListed` follows, or `busLost`.
    func list() {
        ask("list units", "ListUnitsByPatterns", [.texts([]), .texts([GateTarget.pattern])]) {
            [unowned self] message throws(BusError) in
            post(.unitsListed(try message.loadedUnits()))
        }
    }

    /// Hears of changes of these units, and of no others.
    func follow(_ units: Set<UnitName>) {
        attempt { () throws(BusError) in try connection?.signals.follow(units) }
    }

    /// Asks for everything about a unit; systemd loads it for that, where it is not loaded yet.
    func read(_ unit: UnitName) {
        send(.read(unit)) { [unowned self] result in
            guard case .success(let message) = result,
                case .success(let properties) = Result(catching: { () throws(BusError) in
                    try message.unitProperties()
                })
            else { return post(.unitRead(unit, nil)) }
            post(.unitRead(unit, properties))
        }
    }

    /// Has a target started or stopped. The answer comes once the job is queued.
    func enqueue(_ job: TargetJob) {
        guard let unit = job.target.unit else { return }
        let member =
            switch job {
            case .start: "StartUnit"
            case .stop: "StopUnit"
            }
        let call = Call.manager("move '\(unit)'", member, [.text(unit.text), .text("replace")])
        send(call) { [unowned self] result in
            switch result {
            case .success: post(.jobAnswered(job, problem: nil))
            case .failure(let error): post(.jobAnswered(job, problem: error.message))
            }
        }
    }

    /// Asks whether the system is on its way down.
    func askState() {
        let call = Call(
            "ask for the system's state", to: Call.systemd, path: ObjectPath.manager,
            interface: "org.freedesktop.DBus.Properties", member: "Get",
            [.text("\(Call.systemd).Manager"), .text("SystemState")])
        send(call) { [unowned self] result in
            guard case .success(let message) = result,
                case .success(let state) = Result(catching: { () throws(BusError) in
                    try message.word()
                })
            else { return post(.systemState(isStopping: false)) }
            post(.systemState(isStopping: state == "stopping"))
        }
    }

    /// Signals are sent to those alone who asked for them. To ask twice is no harm.
    private func subscribe() {
        send(.manager("subscribe to systemd", "Subscribe")) { [unowned self] result in
            guard case .failure(let error) = result,
                !error.isRepetition
            else { return }
            post(.busLost(problem: error.description))
        }
    }

    private func reloading(_ message: Message) {
        guard case .success(false) = Result(catching: { () throws(BusError) in try message.bool() })
        else { return }
        post(.systemdReloaded)
    }

    /// A call of the manager without which nothing goes on: a failure is a lost bus.
    private func ask(
        _ purpose: String, _ member: String, _ arguments: [Call.Argument],
        answer: @escaping (Message) throws(BusError) -> Void
    ) {
        send(.manager(purpose, member, arguments)) { [unowned self] result in
            attempt { () throws(BusError) in try answer(try result.get()) }
        }
    }

    private func send(_ call: Call, answer: @escaping (Result<Message, BusError>) -> Void) {
        attempt { () throws(BusError) in try connection?.bus.call(call, answer: answer) }
    }

    private func attempt(_ body: () throws(BusError) -> Void) {
        do {
            try body()
        } catch {
            post(.busLost(problem: error.description))
        }
    }

    private static func rule(_ interface: String, _ member: String) -> String {
        "type='signal',sender='\(Call.systemd)',path='\(ObjectPath.manager)',"
            + "interface='\(Call.systemd).\(interface)',member='\(member)'"
    }

    private static let restarts =
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Call.systemd)'"
}

/// The signals of units. One rule for each, so that a host whose other units come and go all day
/// does not wake us; and one rule for all where there would be more than a connection may have (512,
/// dbus-daemon(1), `max_match_rules_per_connection`).
struct UnitSignals {
    private let bus: Bus
    private let heard: (UnitName, UnitStatus) -> Void
    private var matches: [UnitName: Match] = [:]
    private var all: Match?
    private var followed: Set<UnitName> = []

    private static let limit = 400

    /// Signals of a connection, of no unit yet. `heard` is called with each.
    init(_ bus: Bus, heard: @escaping (UnitName, UnitStatus) -> Void) {
        self.bus = bus
        self.heard = heard
    }

    /// Hears of exactly these units.
    mutating func follow(_ units: Set<UnitName>) throws(BusError) {
        followed = units
        if units.count > Self.limit {
            matches = [:]
            // A unit that is not ours costs a look at its path; the machine drops it.
            if all == nil { all = try match("path_namespace='\(ObjectPath.manager)/unit'") }
            return
        }
        all = nil
        matches = matches.filter { units.contains($0.key) }
        for unit in units where matches[unit] == nil {
            matches[unit] = try match("path='\(ObjectPath.of(unit))'")
        }
    }

    private func match(_ filter: String) throws(BusError) -> Match {
        let heard = heard
        return try Match(
            bus,
            "type='signal',sender='org.freedesktop.systemd1',member='PropertiesChanged',"
                + "interface='org.freedesktop.DBus.Properties',"
                + "arg0='org.freedesktop.systemd1.Unit',\(filter)"
        ) { message in
            // A signal that cannot be read tells nothing: the unit stays as it was known.
            guard let unit = ObjectPath.unit(message.path),
                case .success(let seen?) = Result(catching: { () throws(BusError) in
                    try message.unitStatus()
                })
            else { return }
            heard(unit, seen)
        }
    }
}
