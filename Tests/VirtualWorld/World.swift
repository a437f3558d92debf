package import CivilTime
import Decision

/// A daemon's machine in virtual time, with two sources and a disk that fail at random. The oracle checks
/// every verdict, and the pace every fetch.
///
/// The world wakes the machine to the microsecond, so that any delay is the machine's own.
package struct World {
    package private(set) var chronicle = Chronicle()
    private let plan: Plan
    private let weather: Weather
    private var random: SeededRandom
    private var machine: Machine
    private var servers: [Server]
    private var paces: [Pace]
    private var oracle: Oracle
    private var disk = Disk()
    private var now: Now
    private var wake = Wake()
    private var inFlight: [Fetch] = []
    private var events: [Event] = []
    private var state = State.undecided
    private var daysLeft: Int?
    private var edge: Instant

    private struct Fetch {
        let source: Int
        let endsAt: Boottime
        let validators: Validators
    }

    /// The files that outlive the daemon.
    private struct Disk {
        var answers: [SourceName: [Answer]] = [:]
        var confirmedAt: [SourceName: Instant] = [:]
        var ledger = Ledger()
    }

    /// A service on two sources, polled every `interval`, from `start` on for `length`.
    package init(
        seed: UInt64, from start: Instant, for length: Duration, zone: Zone,
        interval: Duration = .seconds(60), weather: Weather = Weather()
    ) throws {
        var random = SeededRandom(seed: seed)
        let (app, calendar): (SourceName, SourceName) = try (name("app"), name("calendar"))
        let service = Service(
            name: try name("shop"), zone: zone,
            switches: [
                Switch(
                    source: app,
                    format: .serviceEnd(
                        endKeys: ["service_end"], countdownKey: "service_countdown")),
                Switch(source: calendar, format: .switchObject(.whole)),
            ],
            policy: Policy(maxStale: .hours(24), whenStale: .closed, minClosed: .zero))
        plan = Plan(
            sources: [app, calendar].map { SourcePlan(name: $0, interval: interval) },
            services: [service])
        servers = [
            Server(
                app, try Edition.ends(from: start, for: length, using: &random),
                countsEditions: false),
            Server(
                calendar, try Edition.windows(from: start, for: length, using: &random),
                countsEditions: true),
        ]
        paces = plan.sources.map { Pace(interval: $0.interval) }
        oracle = Oracle(sources: 2, policy: service.policy, zone: zone, at: start)
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000))
        edge = oracle.nextEdge(after: start)
        machine = Machine(
            plan: plan, memory: Memory(), bootID: "boot", clockFloor: start, seed: random.next(),
            at: now)
        self.weather = weather
        self.random = random
    }

    /// Lets time pass until `end`, or until the first violation.
    package mutating func run(until end: Instant) {
        post(.started)
        while chronicle.violations.isEmpty {
            let next = nextMoment
            guard next.wall <= end else { return }
            now = next
            if let index = inFlight.firstIndex(where: { $0.endsAt <= now.boot }) {
                finish(inFlight.remove(at: index))
            } else if now.boot >= wake.boot ?? .never || now.wall >= wake.wall ?? .never {
                post(.woke)
            }
            if now.wall >= edge {
                chronicle.edges += 1
                look("at its time")
                edge = oracle.nextEdge(after: now.wall)
            }
        }
    }

    private var nextMoment: Now {
        var wait = edge - now.wall
        if let moment = wake.boot { wait = min(wait, moment - now.boot) }
        if let instant = wake.wall { wait = min(wait, instant - now.wall) }
        for fetch in inFlight { wait = min(wait, fetch.endsAt - now.boot) }
        wait = max(wait, .zero)
        return Now(wall: now.wall + wait, boot: now.boot + wait)
    }

    private mutating func finish(_ fetch: Fetch) {
        let index = fetch.source
        let (outcome, edition) = servers[index].outcome(
            at: now.wall, unless: fetch.validators, weather, &chronicle, using: &random)
        chronicle.polls += 1
        paces[index].end(outcome, at: now.boot)
        if let edition {
            oracle.hear(servers[index].editions[edition].saying, of: index, at: now.wall)
        }
        post(.fetched(servers[index].name, outcome))
        edge = oracle.nextEdge(after: now.wall)
        if happens(weather.restart) { restart() }
        if happens(weather.sleep) { sleep() }
    }

    /// Sends an event, and then the events that its effects cause, as the daemon's queue does.
    private mutating func post(_ event: Event) {
        events.append(event)
        var taken = 0
        while taken < events.count {
            let effects = machine.handle(events[taken], at: now)
            taken += 1
            for effect in effects { perform(effect) }
        }
        events.removeAll(keepingCapacity: true)
        look("after an event")
    }

    private mutating func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators):
            guard let index = servers.firstIndex(where: { $0.name == name }) else { return }
            if let problem = paces[index].problem(fetchingAt: now.boot) { complain(problem) }
            let latency = Duration.milliseconds(Int64.random(in: 5...5000, using: &random))
            inFlight.append(
                Fetch(source: index, endsAt: now.boot + latency, validators: validators))
        case .storeFlags(let name, let answers):
            write(.storeFlags(name)) { $0.answers[name] = answers }
        case .markConfirmed(let name):
            let time = now.wall
            write(.markConfirmed(name)) { $0.confirmedAt[name] = time }
        case .storeLedger(let ledger, _):
            write(.storeLedger) { $0.ledger = ledger }
        case .publish(let service, let record):
            if record.verdict.state != state { chronicle.changes += 1 }
            state = record.verdict.state
            daysLeft = record.verdict.daysLeft
            write(.publish(service.name)) { _ in }
        case .sleep(let next):
            wake = next
        case .announce:
            break
        case .storeOverrides, .forget, .withdraw, .unfollow, .reject, .passOn:
            complain("nobody asked for that: \(effect)")
        }
    }

    private mutating func write(_ operation: WriteOperation, _ change: (inout Disk) -> Void) {
        guard !happens(weather.failedWrite) else {
            chronicle.note("failed write")
            events.append(.recorded(operation, problem: "no space left on device"))
            return
        }
        change(&disk)
        events.append(.recorded(operation, problem: nil))
    }

    /// The host sleeps: time passes without events.
    private mutating func sleep() {
        chronicle.note("sleep")
        let time = Duration.seconds(
            Int64.random(in: 3600...weather.longestSleep * 3600, using: &random))
        now = Now(wall: now.wall + time, boot: now.boot + time)
        for index in paces.indices { paces[index].wake(at: now.boot) }
        oracle.wake(at: now.wall)
        edge = oracle.nextEdge(after: now.wall)
    }

    /// A new daemon starts with the files on the disk.
    private mutating func restart() {
        chronicle.note("restart")
        let flags = disk.answers.compactMap { name, answers in
            disk.confirmedAt[name].map {
                (name, Memory.StoredFlags(answers: answers, confirmedAt: $0))
            }
        }
        machine = Machine(
            plan: plan,
            memory: Memory(
                flags: Dictionary(uniqueKeysWithValues: flags), ledger: disk.ledger),
            bootID: "boot", clockFloor: Instant(seconds: 0), seed: random.next(), at: now)
        inFlight = []
        wake = Wake()
        for index in paces.indices { paces[index].restart() }
        oracle.restart(
            at: now.wall, as: disk.ledger.entries[plan.services[0].name]?.state, servers.map(stored)
        )
        post(.started)
        edge = oracle.nextEdge(after: now.wall)
    }

    private func stored(
        _ server: Server
    ) -> (saying: Edition.Saying, confirmedAt: Instant)? {
        guard let confirmedAt = disk.confirmedAt[server.name],
            let body = disk.answers[server.name]?.first?.body,
            let edition = server.editions.first(where: { $0.answer.body == body })
        else { return nil }
        return (edition.saying, confirmedAt)
    }

    private mutating func look(_ occasion: String) {
        guard let right = oracle.verdict(at: now.wall) else { return }
        if right.state != state {
            complain("it is \(state.rawValue) and not \(right.state.rawValue), \(occasion)")
        }
        if let days = right.daysLeft, days != daysLeft {
            complain("\(daysLeft.map(String.init) ?? "no") days left and not \(days), \(occasion)")
        }
    }

    private mutating func complain(_ text: String) {
        chronicle.violations.append("\(Zone.utc.rfc3339(now.wall)): \(text)")
    }

    private mutating func happens(_ rate: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < rate
    }
}

/// A text that is no valid name.
private struct NoName: Error {}

/// The name of this text.
func name<Thing>(_ text: String) throws -> Name<Thing> {
    guard let name = Name<Thing>(text) else { throw NoName() }
    return name
}

extension TimePoint {
    fileprivate static var never: Self { Self(microseconds: .max) }
}
