package import CivilTime
package import Decision

/// A daemon that is restarted a thousand times, on a host whose clock is set at random, and what it tells of
/// an end and of windows. The end is moved on the way, and a window is cancelled.
///
/// The source's server has the right time, and answers within seconds. Nobody calls the host's clock synchronised; it
/// is put right within ten minutes where it is far from that.
package struct NoticeWorld {
    /// What was told: the truth at that time, and the notice.
    package private(set) var published: [(at: Instant, notice: PublicNotice)] = []
    /// How often the units that pass on notices were started.
    package private(set) var starts = 0
    /// How often the daemon was restarted, with the host or alone.
    package private(set) var restarts = 0
    private let plan: Plan
    private let editions: [(from: Instant, answer: Answer)]
    private var random: SeededRandom
    private var machine: Machine
    private var truth: Instant
    private var now: Now
    private var boot = 1
    private var wake = Wake()
    private var fetch: (endsAt: Boottime, validators: Validators)?
    private var mishaps: [Instant]
    /// When the clock is put right; nil while nobody is about to.
    private var correction: Instant?
    private var answers: [Answer] = []
    private var confirmedAt: Instant?
    private var ledger = Ledger()

    /// A service whose source serves these bodies, each from its time on. The daemon is restarted so often
    /// before `end`.
    package init(
        seed: UInt64, from start: Instant, to end: Instant, restarts: Int, leads: [Duration],
        bodies: [(from: Instant, body: String)]
    ) throws {
        var random = SeededRandom(seed: seed)
        let source: SourceName = try name("app")
        var service = Service(
            name: try name("shop"), zone: .utc,
            switches: [Switch(source: source, format: .switchObject(.whole))],
            policy: Policy(minClosed: .zero))
        service.notifyBefore = leads
        plan = Plan(
            sources: [SourcePlan(name: source, interval: .seconds(300))], services: [service])
        editions = try bodies.map { from, body in
            let bytes = Array(body.utf8)
            return (
                from,
                Answer(
                    body: bytes, flags: try FlagDocument.parse(bytes),
                    validators: Validators(etag: "\"\(from.seconds)\"", lastModified: nil),
                    fetchedAt: from)
            )
        }
        mishaps = (0..<restarts).map { _ in
            Instant(seconds: Int64.random(in: start.seconds..<end.seconds, using: &random))
        }.sorted()
        truth = start
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000), isSynchronised: false)
        machine = Machine(
            plan: plan, memory: Memory(), bootID: "boot 1", clockFloor: start - .hours(24),
            seed: seed, at: now)
        self.random = random
    }

    /// Lets time pass until `end`.
    package mutating func run(until end: Instant) {
        post(.started)
        while truth < end {
            pass(max(.zero, min(wait, end - truth)))
            if let fetch, fetch.endsAt <= now.boot {
                self.fetch = nil
                answer(unless: fetch.validators)
            } else if let time = correction, time <= truth {
                correction = nil
                step(by: truth - now.wall)
            } else if let next = mishaps.first, next <= truth {
                mishaps.removeFirst()
                mishap()
            } else {
                post(.woke)
            }
        }
    }

    private var wait: Duration {
        var wait = (mishaps.first ?? Instant(microseconds: .max)) - truth
        if let moment = wake.boot { wait = min(wait, moment - now.boot) }
        if let instant = wake.wall { wait = min(wait, instant - now.wall) }
        if let fetch { wait = min(wait, fetch.endsAt - now.boot) }
        if let correction { wait = min(wait, correction - truth) }
        return wait
    }

    private mutating func pass(_ time: Duration) {
        truth = truth + time
        now.wall = now.wall + time
        now.boot = now.boot + time
    }

    /// The clock is set, or is not; then the daemon is restarted, after some minutes or at once.
    private mutating func mishap() {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: step(by: .seconds(Int64.random(in: -2_000_000...2_000_000, using: &random)))
        case 1: step(by: .seconds(Int64.random(in: -290...290, using: &random)))
        case 2: step(by: truth - now.wall)
        default: break
        }
        let error = now.wall - truth
        if correction == nil, max(error, .zero - error) > .seconds(290) {
            correction = truth + .seconds(Int64.random(in: 1...600, using: &random))
        }
        restarts += 1
        if Bool.random(using: &random) {
            pass(.seconds(Int64.random(in: 1...1200, using: &random)))
        }
        if Int.random(in: 0..<10, using: &random) == 0 {
            boot += 1
            now.boot = Boottime(microseconds: 5_000_000)
        }
        fetch = nil
        wake = Wake()
        var memory = Memory(ledger: ledger)
        if let confirmedAt {
            memory.flags[plan.sources[0].name] = Memory.StoredFlags(
                answers: answers, confirmedAt: confirmedAt)
        }
        machine = Machine(
            plan: plan, memory: memory, bootID: "boot \(boot)",
            clockFloor: Instant(seconds: 0), seed: random.next(), at: now)
        post(.started)
    }

    private mutating func step(by distance: Duration) {
        now.wall = now.wall + distance
        post(.clockStepped)
    }

    private mutating func answer(unless validators: Validators) {
        guard var answer = editions.last(where: { $0.from <= truth })?.answer else { return }
        answer.fetchedAt = now.wall
        let isNew = validators != answer.validators
        post(.fetchEnded(plan.sources[0].name, isNew ? .answer(answer) : .unchanged, date: truth))
    }

    private mutating func post(_ event: Event) {
        for effect in machine.handle(event, at: now) { perform(effect) }
    }

    private mutating func perform(_ effect: Effect) {
        switch effect {
        case .fetch(_, let validators, _):
            let latency = Duration.milliseconds(Int64.random(in: 5...5000, using: &random))
            fetch = (now.boot + latency, validators)
        case .storeFlags(_, let stored): answers = stored
        case .markConfirmed: confirmedAt = now.wall
        case .storeLedger(let stored): ledger = stored
        case .log(.noticePublished(_, let notice)): published.append((truth, notice))
        case .announce(_, .notice): starts += 1
        case .sleep(let next): wake = next
        case .log, .publish, .storeOverrides, .storeVersion, .dropVersion, .reserveVersion,
            .readVersion, .readAgain, .setAside, .forget, .withdraw, .stopSource, .ask, .announce,
            .reject:
            break
        }
    }
}
