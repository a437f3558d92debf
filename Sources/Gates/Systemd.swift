import Bus
import Decision
import EventLoop

/// systemd's manager on the bus. It makes calls and receives signals, and decides nothing: each
/// answer, each signal and the loss of the connection become events.
final class Systemd {
    private let loop: EventLoop
    private let address: String
    private let post: (GateEvent) -> Void
    private var connection: Connection?

    /// A connection with its subscriptions.
    private struct Connection {
        let bus: Bus
        var matches: [Match] = []
        var signals: UnitSignals
        var calls = PendingCalls()
    }

    /// `address` is that of the bus.
    init(_ loop: EventLoop, address: String, post: @escaping (GateEvent) -> Void) {
        self.loop = loop
        self.address = address
        self.post = post
    }

    /// Begins a new connection. It subscribes to signals before it lists the units, so that no
    /// change is missed in between.
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
                // systemd itself was replaced, as by daemon-reexec: it has no subscribers now.
                Match(bus, Self.restarts) { [unowned self] _ in subscribe() },
            ]
            self.connection = connection
        }
        subscribe()
        list([])
    }

    /// Lets go of the connection.
    func disconnect() { connection = nil }

    /// Lists our targets, and these units, by one call each: `targetsListed` and `unitsListed`
    /// follow, or `busLost`.
    func list(_ units: [UnitName]) {
        ask("list targets", "ListUnitsByPatterns", [.texts([]), .texts([GateTarget.pattern])]) {
            [unowned self] message throws(BusError) in
            post(.targetsListed(try message.loadedUnits()))
        }
        guard !units.isEmpty else { return }
        ask("list units", "ListUnitsByNames", [.texts(units.map(\.text))]) {
            [unowned self] message throws(BusError) in
            post(.unitsListed(try message.loadedUnits()))
        }
    }

    /// Subscribes to changes of these units too.
    func follow(_ units: Set<UnitName>) {
        attempt { () throws(BusError) in try connection?.signals.follow(units) }
    }

    /// Subscribes to changes of these units no longer.
    func unfollow(_ units: Set<UnitName>) { connection?.signals.unfollow(units) }

    /// Reads all properties of a unit; systemd loads the unit for that if it is not loaded yet.
    func read(_ unit: UnitName) {
        connection?.calls.append(unit)
        sendCalls()
    }

    /// Starts or stops a target. The answer comes as soon as the job is queued.
    func enqueue(_ job: TargetJob) {
        guard job.target.unit != nil else { return }
        connection?.calls.append(job)
        sendCalls()
    }

    private func sendCalls() {
        while let call = connection?.calls.next() {
            switch call {
            case .job(let job): send(job)
            case .read(let unit): sendRead(of: unit)
            }
        }
    }

    private func sendRead(of unit: UnitName) {
        send(.read(unit)) { [unowned self] result in
            connection?.calls.noteReadAnswer()
            sendCalls()
            guard case .success(let message) = result,
                case .success(let properties) = Result(catching: { () throws(BusError) in
                    try message.unitProperties()
                })
            else { return post(.unitRead(unit, nil)) }
            post(.unitRead(unit, properties))
        }
    }

    private func send(_ job: TargetJob) {
        guard let unit = job.target.unit else { return }
        let member =
            switch job {
            case .start: "StartUnit"
            case .stop: "StopUnit"
            }
        let call = Call.manager("move '\(unit)'", member, [.text(unit.text), .text("replace")])
        send(call) { [unowned self] result in
            connection?.calls.noteJobAnswer()
            sendCalls()
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

    /// systemd sends its signals only to subscribers. A second subscription is no error.
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

    /// A call of the manager that must succeed: a failure counts as the loss of the bus.
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

/// The signals of units. Each unit has a match rule, so that changes of other units do not wake the
/// daemon. One rule matches all units if there would be more than a connection may have (512,
/// dbus-daemon(1), `max_match_rules_per_connection`).
struct UnitSignals {
    private let bus: Bus
    private let heard: (UnitName, UnitStatus) -> Void
    private var matches: [UnitName: Match] = [:]
    private var all: Match?
    private var followed: Set<UnitName> = []

    private static let limit = 400

    /// The signals of a connection, at first of no unit. `heard` is called with each signal.
    init(_ bus: Bus, heard: @escaping (UnitName, UnitStatus) -> Void) {
        self.bus = bus
        self.heard = heard
    }

    /// Subscribes to these units too.
    mutating func follow(_ units: Set<UnitName>) throws(BusError) {
        followed.formUnion(units)
        if all != nil { return }
        if followed.count > Self.limit {
            matches = [:]
            // With the one rule signals of other units come too: the machine ignores them.
            all = try match("path_namespace='\(ObjectPath.manager)/unit'")
            return
        }
        for unit in units where matches[unit] == nil {
            matches[unit] = try match("path='\(ObjectPath.of(unit))'")
        }
    }

    /// Subscribes to these units no longer.
    mutating func unfollow(_ units: Set<UnitName>) {
        followed.subtract(units)
        for unit in units { matches[unit] = nil }
    }

    private func match(_ filter: String) throws(BusError) -> Match {
        let heard = heard
        return try Match(
            bus,
            "type='signal',sender='org.freedesktop.systemd1',member='PropertiesChanged',"
                + "interface='org.freedesktop.DBus.Properties',"
                + "arg0='org.freedesktop.systemd1.Unit',\(filter)"
        ) { message in
            // A signal that cannot be read changes nothing.
            guard let unit = ObjectPath.unit(message.path),
                case .success(let seen?) = Result(catching: { () throws(BusError) in
                    try message.unitStatus()
                })
            else { return }
            heard(unit, seen)
        }
    }
}
