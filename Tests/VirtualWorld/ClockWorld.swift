package import CivilTime
import Decision

/// A daemon whose clock is set at random, with servers whose clocks are right, wrong or absent. Ends come
/// and are withdrawn all the time. The host sleeps, loses its synchronisation, is restarted and rebooted.
///
/// Source 0 always sends the right `Date`; source 1 a wrong one at times, like source 2; source 3 sends
/// none, and tells no time, as a file. Source 4 has signers, and its server a wrong `Date` most of the time. The oracle
/// is told everything that happens, and asked for the states of the five services at every event and at every edge.
package struct ClockWorld {
    package private(set) var chronicle = Chronicle()
    private let plan: Plan
    private let editions: [[Edition]]
    private var random: SeededRandom
    private var machine: Machine
    private var oracle: ClockOracle
    private var truth: Instant
    private var now: Now
    /// How far each server's clock is from the truth; nil sends no `Date`.
    private var errors: [Duration?] = [.zero, .zero, .zero, nil, .seconds(1_000_000)]
    private var outages: [Instant]
    private var boot = 1
    private var wake = Wake()
    private var inFlight: [(source: Int, endsAt: Boottime, validators: Validators)] = []
    private var events: [Event] = []
    private var states: [State]
    private var answers: [SourceName: [Answer]] = [:]
    private var accepted: [SourceName: AcceptedVersion] = [:]
    private var confirmedAt: [SourceName: Instant] = [:]
    private var ledger = Ledger()
    private var nextMishap: Boottime

    /// The position of the source with signers.
    private static let signed = 4

    /// Five services from `start` on for `length`.
    package init(seed: UInt64, from start: Instant, for length: Duration) throws {
        var random = SeededRandom(seed: seed)
        let names = ["right", "wrong", "wild", "mute", "signed"]
        let interval = Duration.seconds(300)
        plan = Plan(
            sources: try names.map {
                SourcePlan(
                    name: try name($0), interval: interval,
                    audience: $0 == names[Self.signed] ? "prod" : nil, tellsTime: $0 != "mute")
            },
            services: try names.map {
                Service(
                    name: try name($0), zone: .utc,
                    switches: [
                        Switch(
                            source: try name($0),
                            format: .serviceEnd(
                                endKeys: ["service_end"], countdownKey: "service_countdown"))
                    ],
                    policy: Policy(minClosed: .zero))
            })
        editions = try names.indices.map { index in
            let editions = try Edition.ends(from: start, for: length, every: 1...30, using: &random)
            guard index == Self.signed else { return editions }
            return try editions.enumerated().map {
                try $1.signed(version: $0, expires: start + .hours(1_000_000))
            }
        }
        truth = start
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000), isSynchronised: false)
        outages = names.map { _ in start }
        states = names.map { _ in .undecided }
        let build = start - .hours(240)
        oracle = ClockOracle(
            sources: names.count, silent: 3, interval: interval, build: build, at: now)
        nextMishap = now.boot + .hours(1)
        machine = Machine(
            plan: plan, memory: Memory(), bootID: "boot 1", clockFloor: build, seed: seed, at: now)
        self.random = random
    }

    /// Lets time pass until `end`, or until the first violation.
    package mutating func run(until end: Instant) {
        post(.started)
        while chronicle.violations.isEmpty, truth < end {
            pass(max(.zero, wait))
            if let index = inFlight.firstIndex(where: { $0.endsAt <= now.boot }) {
                finish(inFlight.remove(at: index))
            } else if wake.boot.map({ $0 <= now.boot }) ?? false
                || wake.wall.map({ $0 <= now.wall }) ?? false
            {
                post(.woke)
            } else if now.boot >= nextMishap {
                mishap()
            } else {
                chronicle.edges += 1
                check("at its time")
            }
        }
    }

    private var wait: Duration {
        var wait = min(oracle.timeToNextEdge(at: now), nextMishap - now.boot)
        if let moment = wake.boot { wait = min(wait, moment - now.boot) }
        if let instant = wake.wall { wait = min(wait, instant - now.wall) }
        for fetch in inFlight { wait = min(wait, fetch.endsAt - now.boot) }
        return wait
    }

    private mutating func pass(_ time: Duration) {
        truth = truth + time
        now.wall = now.wall + time
        now.boot = now.boot + time
    }

    // MARK: - Mishaps

    private mutating func mishap() {
        let wait = Int64.random(in: 60...20_000, using: &random)
        nextMishap = now.boot + .seconds(wait)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: step(by: .seconds(Int64.random(in: -2_000_000...2_000_000, using: &random)))
        case 3: step(by: .seconds(Int64.random(in: -290...290, using: &random)))
        case 4, 5: step(by: truth - now.wall)
        case 6: synchronise()
        case 7, 8: setServer([1, 2, Self.signed][Int.random(in: 0..<3, using: &random)])
        case 9: sleep()
        case 10: restart(isReboot: false)
        default:
            let source = Int.random(in: 0..<5, using: &random)
            chronicle.record("outage")
            outages[source] = truth + .seconds(Int64.random(in: 60...40_000, using: &random))
            if Bool.random(using: &random) { restart(isReboot: true) }
        }
    }

    /// The clock is set: it is not synchronised any more.
    private mutating func step(by distance: Duration) {
        chronicle.record(distance < .zero ? "step back" : "step forward")
        now.wall = now.wall + distance
        now.isSynchronised = false
        post(.clockStepped)
    }

    private mutating func synchronise() {
        chronicle.record("synchronised")
        step(by: truth - now.wall)
        now.isSynchronised = true
        post(.woke)
    }

    /// The clock of a server becomes wrong or right, also earlier than the build.
    private mutating func setServer(_ index: Int) {
        chronicle.record("wrong server")
        let error = Duration.seconds(Int64.random(in: -2_000_000...2_000_000, using: &random))
        errors[index] = errors[index] == .zero ? error : .zero
    }

    /// The host sleeps. The clock of a virtual machine may stand still meanwhile.
    private mutating func sleep() {
        chronicle.record("sleep")
        let time = Duration.seconds(Int64.random(in: 60...100_000, using: &random))
        pass(time)
        if Bool.random(using: &random) {
            now.wall = now.wall - time
            now.isSynchronised = false
            post(.clockStepped)
        } else {
            post(.woke)
        }
    }

    private mutating func restart(isReboot: Bool) {
        chronicle.record(isReboot ? "reboot" : "restart")
        if isReboot {
            boot += 1
            now.boot = Boottime(microseconds: 5_000_000)
            now.isSynchronised = false
            nextMishap = now.boot + .hours(1)
            // A boot empties /run: no service shows a state.
            states = states.map { _ in .undecided }
        }
        let flags = answers.compactMap { name, answers in
            confirmedAt[name].map {
                (
                    name,
                    Memory.StoredFlags(
                        answers: answers, confirmedAt: $0,
                        accepted: accepted[name].map { .known($0) } ?? .none)
                )
            }
        }
        oracle.restart(isReboot: isReboot, at: now)
        machine = Machine(
            plan: plan,
            memory: Memory(flags: Dictionary(uniqueKeysWithValues: flags), ledger: ledger),
            bootID: "boot \(boot)", clockFloor: oracle.build, seed: random.next(), at: now)
        inFlight = []
        wake = Wake()
        post(.started)
    }

    // MARK: - The machine

    private mutating func finish(_ fetch: (source: Int, endsAt: Boottime, validators: Validators)) {
        let index = fetch.source
        chronicle.polls += 1
        let source = plan.sources[index].name
        guard truth >= outages[index],
            let edition = editions[index].last(where: { $0.from <= truth })
        else {
            oracle.failed(index)
            return post(.fetchEnded(source, .failure(Failure(.unreachable, "connection refused"))))
        }
        let date = errors[index].map { truth + $0 }
        var answer = edition.answer
        answer.fetchedAt = now.wall
        let isNew = fetch.validators != answer.validators
        let issued = index == Self.signed && isNew ? edition.from : nil
        oracle.answered(index, edition.saying, date: date, issued: issued, isNew: isNew, at: now)
        post(.fetchEnded(source, isNew ? .answer(answer) : .unchanged, date: date))
    }

    private mutating func post(_ event: Event) {
        events = [event]
        while !events.isEmpty {
            for effect in machine.handle(events.removeFirst(), at: now) { perform(effect) }
        }
        check("after \(event)")
    }

    private mutating func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators, _):
            guard let index = plan.sources.firstIndex(where: { $0.name == name }) else { return }
            let latency = Duration.milliseconds(Int64.random(in: 5...5000, using: &random))
            inFlight.append((index, now.boot + latency, validators))
        case .storeFlags(let name, let stored): answers[name] = stored
        case .markConfirmed(let name): confirmedAt[name] = now.wall
        case .storeLedger(let stored): ledger = stored
        case .publish(let service, let record):
            guard let index = plan.services.firstIndex(where: { $0.name == service.name })
            else { return }
            if record.verdict.state != states[index] { chronicle.changes += 1 }
            states[index] = record.verdict.state
        case .sleep(let next): wake = next
        case .storeVersion(let name, let version):
            accepted[name] = version
            events.append(.writeEnded(.storeVersion(name), problem: nil))
        case .log, .storeOverrides, .dropVersion, .reserveVersion, .readVersion, .readAgain,
            .setAside,
            .forget, .withdraw, .stopSource, .reject, .ask,
            .announce:
            break
        }
    }

    private mutating func check(_ occasion: String) {
        for index in plan.services.indices {
            if let right = oracle.state(of: index, at: now), right != states[index] {
                complain(
                    "\(plan.services[index].name) is \(states[index].rawValue) and not "
                        + "\(right.rawValue), \(occasion)")
            }
            oracle.stateShown(states[index], of: index)
        }
    }

    private mutating func complain(_ text: String) {
        chronicle.violations.append(
            "\(Zone.utc.rfc3339(truth)), clock \(Zone.utc.rfc3339(now.wall)): \(text)")
    }
}
