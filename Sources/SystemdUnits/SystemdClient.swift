package import Decision
package import EventLoop
package import Gates
import Systemd

/// systemd's manager on the bus. It decides nothing: answers, signals and the loss of the bus become events.
package final class SystemdClient {
    private let loop: EventLoop
    private let address: String?
    private let post: (GateEvent) -> Void
    private var connection: Connection?
    /// What the unit that attaches units has left, as it was read last.
    private var outcome = AttachmentOutcome()
    /// Tells when the socket of the bus is made anew: nobody else tells without a connection.
    private var socket: PathWatch?

    /// `address` is the address of the bus; nil for the system bus.
    package init(_ loop: EventLoop, address: String?, post: @escaping (GateEvent) -> Void) {
        self.loop = loop
        self.address = address
        self.post = post
        socket = Bus.socketPath(of: address).map { path in
            PathWatch(loop, path: path) { post(.busAppeared) }
        }
    }

    /// Begins a new connection. It subscribes before it lists the units, so that no change is missed.
    package func connect() {
        connection = nil
        attempt {
            let bus = try Bus(loop, address: address) { [unowned self] in
                post(.busLost(problem: "the connection to the bus is gone"))
            }
            var connection = Connection(bus: bus) { [unowned self] unit, seen in
                post(.unitChanged(unit, seen))
            }
            connection.matches = try [
                Match(bus, from: Call.systemd, Match.signal(ofManager: "Reloading")) {
                    [unowned self] message in
                    if message.content({ try $0.bool() }) == false { post(.systemdReloaded) }
                },
                // systemd itself was replaced, as by daemon-reexec: it has no subscribers now.
                Match(bus, arrivalOf: Call.systemd) { [unowned self] in
                    subscribe()
                    post(.busAppeared)
                },
                failedStarts(on: bus),
            ]
            self.connection = connection
        }
        subscribe()
        list([])
    }

    /// Follows the jobs that end without a start, also those of other units: the machine ignores them.
    private func failedStarts(on bus: Bus) throws(BusError) -> Match {
        let rule = Match.signal(ofManager: "JobRemoved")
        return try Match(
            bus, from: Call.systemd, interface: "\(Call.systemd).Manager", member: "JobRemoved",
            rules: ["dependency", "assert"].map { "\(rule),arg3='\($0)'" },
            onRefusal: { [unowned self] error in post(.busLost(problem: error.description)) }
        ) { [unowned self] message in
            if let event = message.content({ try $0.failedStart() }) { post(event) }
        }
    }

    /// Lists our targets, and these units: `targetsListed` and `unitsListed` follow, or `busLost`.
    package func list(_ units: [UnitName]) {
        // Read before systemd answers, so that a unit that systemd has lost stays attached.
        outcome = AttachmentOutcome.read(before: outcome)
        post(.attachmentsRead(outcome))
        let patterns: [Call.Argument] = [.texts([]), .texts([GateTarget.pattern])]
        send(.manager("list targets", "ListUnitsByPatterns", patterns)) { [unowned self] result in
            attempt { post(.targetsListed(try result.get().loadedUnits())) }
        }
        if !units.isEmpty { compare(units) }
    }

    /// Lists these targets and units: `unitsListed` follows, or `busLost`.
    package func compare(_ units: [UnitName]) {
        let names: [Call.Argument] = [.texts(units.map(\.text))]
        send(.manager("list units", "ListUnitsByNames", names)) { [unowned self] result in
            attempt { post(.unitsListed(try result.get().loadedUnits())) }
        }
    }

    /// Tells how the last run of that unit has ended, and which units are attached now.
    package func readAttachOutcome() {
        outcome = AttachmentOutcome.read(isExpected: true, before: outcome)
        post(.attachEnded(outcome))
    }

    /// Subscribes to changes of these units too.
    package func subscribe(to units: Set<UnitName>) {
        attempt { try connection?.subscribe(to: units) }
    }

    /// Subscribes to changes of these units no longer.
    package func unsubscribe(from units: Set<UnitName>) { connection?.unsubscribe(from: units) }

    /// Reads a unit; systemd loads the unit for that if it is not loaded yet.
    package func read(_ unit: UnitName) {
        connection?.reads.append(unit)
        sendReads()
    }

    private func sendReads() {
        while let unit = connection?.reads.next() {
            readProperties(of: unit) { [unowned self] snapshot in
                connection?.reads.answered()
                sendReads()
                post(.unitRead(unit, snapshot))
            }
        }
    }

    /// Counts the processes in the control group of a unit. systemd does not keep a unit that is down and has none.
    package func countProcesses(of unit: UnitName) {
        let name: [Call.Argument] = [.text(unit.text)]
        send(.manager("count the processes of '\(unit)'", "GetUnitProcesses", name)) {
            [unowned self] result in
            let processes: UnitProcesses? =
                switch result {
                case .success(let message): message.content { try $0.processes() }
                case .failure(let error):
                    error.isUnitUnknown ? UnitProcesses(count: 0, first: "") : nil
                }
            post(.processesCounted(unit, processes))
        }
    }

    /// Asks whether the system is on its way down. No answer counts as yes, because a shutdown stops the bus too: the
    /// machine moves no gate then, and asks again.
    package func readSystemState() {
        let call = Call.property(
            "SystemState", of: "\(Call.systemd).Manager", at: ObjectPath.manager,
            "ask for the system's state")
        send(call) { [unowned self] result in
            let state = result.message?.content { try $0.word() }
            post(.systemStateRead(isStopping: state ?? "stopping" == "stopping"))
        }
    }

    /// systemd sends its signals only to subscribers. A second subscription is no error.
    private func subscribe() {
        send(.subscribe) { [unowned self] result in
            guard case .failure(let error) = result, !error.isRepetition else { return }
            post(.busLost(problem: error.description))
        }
    }

    func send(_ call: Call, answer: @escaping (Result<Message, BusError>) -> Void) {
        attempt { try connection?.bus.call(call, answer: answer) }
    }

    /// Does what must succeed: a failure counts as the loss of the bus.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            post(.busLost(problem: "\(error)"))
        }
    }
}

/// The units that are to be read, a few at a time: systemd answers in turn, and everybody else who asks it something
/// waits. Targets go first, because moves wait for them. A read is up to 16 calls, and a connection may wait for 128
/// answers (dbus-daemon(1), `max_replies_per_connection`).
private struct PendingReads {
    private var targets = ArraySlice<UnitName>()
    private var units = ArraySlice<UnitName>()
    private var waiting: Set<UnitName> = []
    private var inFlight = 0

    /// Has a unit read once, however often this is called before that.
    mutating func append(_ unit: UnitName) {
        guard waiting.insert(unit).inserted else { return }
        if GateTarget(unit) != nil { targets.append(unit) } else { units.append(unit) }
    }

    /// The next unit; nil if there is none, or if enough are being read.
    mutating func next() -> UnitName? {
        guard inFlight < 4, let unit = targets.popFirst() ?? units.popFirst() else { return nil }
        waiting.remove(unit)
        inFlight += 1
        return unit
    }

    mutating func answered() { inFlight -= 1 }
}

/// A connection with its subscriptions.
///
/// Each unit that is followed has a match rule, so that other units do not wake the daemon. One rule matches all units
/// if there would be more than a connection may have (512, dbus-daemon(1), `max_match_rules_per_connection`).
private struct Connection {
    let bus: Bus
    /// Called with each signal of a unit.
    let statusChanged: (UnitName, UnitStatus) -> Void
    /// The subscriptions to signals of systemd itself.
    var matches: [Match] = []
    var units: [UnitName: Match] = [:]
    var allUnits: Match?
    var followed: Set<UnitName> = []
    /// The units that are to be read.
    var reads = PendingReads()

    private static let limit = 400

    /// Subscribes to these units too.
    mutating func subscribe(to more: Set<UnitName>) throws(BusError) {
        followed.formUnion(more)
        if allUnits != nil { return }
        if followed.count > Self.limit {
            units = [:]
            // With the one rule signals of other units come too: the machine ignores them.
            allUnits = try match("path_namespace='\(ObjectPath.manager)/unit'")
            return
        }
        for unit in more where units[unit] == nil {
            units[unit] = try match("path='\(ObjectPath.of(unit))'")
        }
    }

    /// Subscribes to these units no longer.
    mutating func unsubscribe(from some: Set<UnitName>) {
        followed.subtract(some)
        for unit in some { units[unit] = nil }
    }

    private func match(_ filter: String) throws(BusError) -> Match {
        let statusChanged = statusChanged
        return try Match(
            bus, from: Call.systemd,
            "member='PropertiesChanged',interface='\(Call.properties)',"
                + "arg0='\(Call.systemd).Unit',\(filter)"
        ) { message in
            // A signal that cannot be read changes nothing.
            guard let unit = ObjectPath.unit(message.path),
                let seen = message.content({ try $0.unitStatus() })
            else { return }
            statusChanged(unit, seen)
        }
    }
}
