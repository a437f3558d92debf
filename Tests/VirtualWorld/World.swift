package import CivilTime
import Decision

/// A daemon's machines in virtual time, with two sources and a disk that fail at random, an operator, and a systemd.
/// An oracle checks every verdict and every gate of four services, and the pace every fetch.
///
/// The world wakes the machines to the microsecond, so that any delay is their own.
package struct World {
    package private(set) var chronicle = Chronicle()
    private let plan: Plan
    private let weather: Weather
    /// What tells the host from others in a rollout.
    private let place: HostPlace
    private var random: SeededRandom
    private var machine: Machine
    private var servers: [Server]
    private var paces: [Pace]
    private var watched: [Watched]
    private var gates: StandInGates
    private var disk = Disk()
    private var now: Now
    private var wake = Wake()
    private var inFlight: [Fetch] = []
    private var events: [Event] = []
    private var boot = 1
    /// Whether the machine has rejected the last order.
    private var isRejected = false
    private var edge: Instant

    private struct Fetch {
        let source: Int
        let endsAt: Boottime
        let validators: Validators
    }

    /// Four services on two sources, polled every `interval`, from `start` on for `length`: `shop`, `web` with a
    /// spread, `proxy` with a drain, and `api` with both.
    package init(
        seed: UInt64, from start: Instant, for length: Duration, zone: Zone,
        interval: Duration = .seconds(60), weather: Weather = Weather()
    ) throws {
        var random = SeededRandom(seed: seed)
        let (app, calendar): (SourceName, SourceName) = try (name("app"), name("calendar"))
        let policy = Policy(maxStale: .hours(24), whenStale: .closed, minClosed: .zero)
        var (spread, drain, both) = (policy, policy, policy)
        spread.openSpread = .hours(12)
        drain.drain = .seconds(2400)
        (both.openSpread, both.spreadsAtBoot, both.drain) = (.hours(2), true, .seconds(3600))
        let services = try [("shop", policy), ("web", spread), ("proxy", drain), ("api", both)].map
        {
            Service(
                name: try name($0), zone: zone,
                switches: [
                    Switch(
                        source: app,
                        format: .serviceEnd(
                            endKeys: ["service_end"], countdownKey: "service_countdown")),
                    Switch(source: calendar, format: .switchObject(.whole)),
                ],
                policy: $1)
        }
        plan = Plan(
            sources: [app, calendar].map { SourcePlan(name: $0, interval: interval) },
            services: services)
        servers = [
            Server(
                app, try Edition.ends(from: start, for: length, using: &random),
                countsEditions: false),
            Server(
                calendar, try Edition.windows(from: start, for: length, using: &random),
                countsEditions: true),
        ]
        paces = plan.sources.map { Pace(interval: $0.interval) }
        let host = "host-\(seed)"
        place = .named(host)
        watched = services.map { service in
            let slots = ["open", "app", "calendar"].map {
                Slot(of: host, seed: "\(service.name)/\($0)").number
            }
            let oracle = StepsOracle(
                service, slot: slots[0], rollouts: Array(slots[1...]), at: start,
                bootedAt: start - .seconds(1))
            return Watched(service.name, oracle, at: start)
        }
        gates = StandInGates(services.map(\.name))
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000))
        edge = start
        machine = Machine(
            plan: plan, memory: Memory(), place: place, bootID: "boot 1", clockFloor: start,
            seed: random.next(), at: now)
        self.weather = weather
        self.random = random
    }

    /// Lets time pass until `end`, or until the first violation.
    package mutating func run(until end: Instant) {
        gates.start(isReboot: true, at: now.boot)
        post(.started)
        while chronicle.violations.isEmpty {
            let next = nextMoment
            guard next.wall <= end else { return }
            now = next
            if let index = inFlight.firstIndex(where: { $0.endsAt <= now.boot }) {
                finish(inFlight.remove(at: index))
            } else if now.boot >= wake.boot ?? .never || now.wall >= wake.wall ?? .never {
                post(.woke)
            } else if now.boot >= gates.wake ?? .never {
                gates.wakeIfDue(at: now.boot)
                check("after a wake-up of the gates")
            }
            if now.wall >= edge { check("at its time") }
        }
    }

    private var nextMoment: Now {
        var wait = edge - now.wall
        if let moment = wake.boot { wait = min(wait, moment - now.boot) }
        if let instant = wake.wall { wait = min(wait, instant - now.wall) }
        if let moment = gates.wake { wait = min(wait, moment - now.boot) }
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
            let saying = servers[index].editions[edition].saying
            for service in watched.indices {
                watched[service].answered(edition, saying, of: index, at: now.wall)
            }
        }
        post(.fetchEnded(servers[index].name, outcome))
        let isInStep = watched.contains { $0.oracle.isInStep(at: now.wall) }
        let rush = isInStep ? weather.inStep : 1
        if happens(weather.order * rush) { operate() }
        if happens(weather.restart * rush) { restart(isReboot: false) }
        if happens(weather.reboot) { restart(isReboot: true) }
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
        gates.wakeIfDue(at: now.boot)
        check("after an event")
    }

    private mutating func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators, _):
            guard let index = servers.firstIndex(where: { $0.name == name }) else { return }
            if let problem = paces[index].problem(fetchingAt: now.boot) { complain(problem) }
            let latency = Duration.milliseconds(Int64.random(in: 5...5000, using: &random))
            inFlight.append(
                Fetch(source: index, endsAt: now.boot + latency, validators: validators))
        case .storeFlags(let name, _): write(.storeFlags(name), effect)
        case .markConfirmed(let name): write(.markConfirmed(name), effect)
        case .storeLedger: write(.storeLedger, effect)
        case .storeOverrides: write(.storeOverrides, effect)
        case .publish(let service, let record):
            guard let index = watched.firstIndex(where: { $0.name == service.name }) else { return }
            watched[index].publish(record, &chronicle)
            write(.publish(service.name), effect)
            gates.publish(record, of: service.name, at: now.boot)
        case .reject:
            isRejected = true
        case .sleep(let next):
            wake = next
        case .log:
            break
        case .storeVersion, .dropVersion, .reserveVersion, .readVersion, .readAgain, .setAside,
            .forget, .withdraw,
            .stopSource, .announce, .ask:
            complain("nobody asked for that: \(effect)")
        }
    }

    private mutating func write(_ operation: WriteOperation, _ effect: Effect) {
        guard !happens(weather.failedWrite) else {
            chronicle.record("failed write")
            disk.fail(operation)
            events.append(.writeEnded(operation, problem: "no space left on device"))
            return
        }
        disk.write(effect, at: now.wall)
        events.append(.writeEnded(operation, problem: nil))
    }

    // MARK: - Mishaps and orders

    /// The host sleeps: time passes without events.
    private mutating func sleep() {
        chronicle.record("sleep")
        pass(.seconds(Int64.random(in: 3600...weather.longestSleep * 3600, using: &random)))
        for index in paces.indices { paces[index].wake(at: now.boot) }
        for index in watched.indices { watched[index].wake(at: now.wall) }
        // The machine is woken first.
        edge = now.wall + .microseconds(1)
    }

    private mutating func pass(_ time: Duration) {
        now = Now(wall: now.wall + time, boot: now.boot + time)
    }

    private mutating func operate() {
        let index = Int.random(in: watched.indices, using: &random)
        let name = watched[index].name
        switch Operator.deed(at: now.wall, using: &random) {
        case .release?:
            watched[index].publish(nil)
            post(.release(name, by: "root", only: nil))
        case .order(let override, let ifOpen)?:
            isRejected = false
            let isRight = !ifOpen || watched[index].oracle.mayDrill
            if isRight { watched[index].publish(StepsOracle.Order(override)) }
            post(.force(name, override, ifOpen: ifOpen))
            if isRejected == isRight {
                complain("\(name): the order is\(isRight ? "" : " not") rejected")
            }
            chronicle.record("order")
        case nil: break
        }
    }

    /// A new daemon starts with the files on the disk.
    private mutating func restart(isReboot: Bool) {
        chronicle.record(isReboot ? "reboot" : "restart")
        if isReboot {
            boot += 1
            now.wall = now.wall + .seconds(Int64.random(in: 20...600, using: &random))
            now.boot = Boottime(microseconds: 5_000_000)
        }
        disk.restart(isReboot: isReboot)
        machine = Machine(
            plan: plan, memory: disk.memory, place: place, bootID: "boot \(boot)",
            clockFloor: Instant(seconds: 0), seed: random.next(), at: now)
        (inFlight, wake) = ([], Wake())
        for index in paces.indices { paces[index].restart() }
        let received = servers.map(disk.received)
        for index in watched.indices {
            if watched[index].oracle.isInStep(at: now.wall) {
                chronicle.record(step: "restart in a step")
            }
            watched[index].restart(
                at: now.wall, bootedAt: isReboot ? now.wall - .seconds(5) : nil,
                disk.overrides[watched[index].name].map(StepsOracle.Order.init), received)
        }
        gates.start(isReboot: isReboot, at: now.boot)
        post(.started)
    }

    // MARK: - The oracle

    private mutating func check(_ occasion: String) {
        if now.wall >= edge { chronicle.edges += 1 }
        let hasMoved = gates.popMoved()
        edge = .never
        for index in watched.indices {
            for problem in watched[index].check(at: now, gates, hasMoved: hasMoved, &chronicle) {
                complain("\(problem), \(occasion)")
            }
            if disk.isLedgerCurrent { watched[index].store() }
            edge = min(edge, watched[index].edge)
        }
    }

    private mutating func complain(_ text: String) {
        chronicle.violations.append("\(Zone.utc.rfc3339(now.wall)): \(text)")
    }

    private mutating func happens(_ rate: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < rate
    }
}

private struct NoName: Error {}

func name<Thing>(_ text: String) throws -> Name<Thing> {
    guard let name = Name<Thing>(text) else { throw NoName() }
    return name
}

extension TimePoint {
    fileprivate static var never: Self { Self(microseconds: .max) }
}
