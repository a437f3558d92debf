package import CivilTime

/// The whole decision of the daemon: events in, effects out.
///
/// A value without a clock, a disk or a network. The daemon, `simulate`, the tests and the fleet
/// simulation run this same code. `handle` is never called from within the performing of its
/// effects: what an effect leads to is an event of its own, later.
package struct Machine: Sendable {
    var sources: [SourceState]
    var services: [ServiceState]
    var wiring: Wiring
    var ledger: Ledger
    var overrides: [ServiceName: Override]
    var trust: ClockTrust
    var random: SeededRandom
    let bootID: String
    /// How many services may close for one cause.
    var closeAtOnce: Int?
    /// What is to be written again after a failure.
    var arrears = Arrears()
    var isPatient = true
    /// When the host woke up last, or the daemon came to run again after a pause.
    var wokenAt: Boottime?
    /// The wake-up that was asked for and has not come.
    private(set) var lastWake: Wake?
    private var answersNumbered = 0

    /// A machine for `plan` that starts with what earlier runs left in `memory`.
    ///
    /// `clockFloor` is the latest instant known to lie in the past without asking the clock: of the
    /// build, of systemd's clock file.
    package init(
        plan: Plan, memory: Memory, bootID: String, clockFloor: Instant, seed: UInt64, at now: Now
    ) {
        self.bootID = bootID
        ledger = memory.ledger
        overrides = memory.overrides
        closeAtOnce = plan.closeAtOnce
        random = SeededRandom(seed: seed)
        let fetched = memory.flags.values.flatMap(\.answers).map(\.fetchedAt)
        trust = ClockTrust(floor: fetched.reduce(clockFloor, max))
        sources = plan.sources.map { SourceState(plan: $0, at: now) }
        wiring = Wiring(plan)
        services = plan.services.map {
            ServiceState(
                service: $0, entry: memory.ledger.entries[$0.name],
                isForced: memory.overrides[$0.name] != nil, bootID, at: now)
        }
        for index in sources.indices {
            guard let kept = memory.flags[sources[index].name] else { continue }
            restore(kept, to: index)
        }
    }

    /// How much later than asked for a wake-up is that of a host that slept.
    private static let lateness: Duration = .seconds(5)

    /// The services of the plan, in its order.
    package var configuredServices: [Service] { services.map(\.service) }

    /// Takes in what happened at `now`, and says what is to be done about it, in that order.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        if case .recorded(_, problem: nil) = event, arrears.deeds.isEmpty { return [] }
        var batch = Batch()
        if let due = lastWake?.boot, now.boot - due > Self.lateness { wokenAt = now.boot }
        switch event {
        case .started:
            break
        case .woke:
            lastWake = nil
        case .clockStepped:
            lastWake = nil
            for index in services.indices { services[index].isDue = true }
        case .fetched(let source, let outcome, let date):
            if let date { trust.observe(date: date, at: now) }
            receive(outcome, from: source, at: now, &batch)
        case .hinted(let source):
            hint(source, at: now)
        case .override(let service, let override, let ifOpen):
            if ifOpen { catchUp(at: now, &batch) }
            order(override, for: service, ifOpen: ifOpen, &batch)
        case .confirm(let services, let author):
            confirmClosing(of: services, by: author, &batch)
        case .release(let service, let author, let cause):
            release(service, by: author, only: cause, &batch)
        case .forget(let source, let author):
            forget(source, by: author, at: now, &batch)
        case .activate(let service):
            activate(service, &batch)
        case .installed(let service, let version):
            guard let index = wiring.service(service), services[index].installed != version
            else { break }
            services[index].installed = version
            services[index].isDue = true
        case .unwatched(let source, let problem):
            note(source, unwatchedFor: problem, &batch)
        case .doubted(let source, let doubts):
            note(source, doubted: doubts, &batch)
        case .recorded(let deed, let problem):
            note(deed, problem, at: now, &batch)
        case .reconfigured(let plan, let replaced, let remembered):
            reconfigure(plan, replaced, remembered, at: now, &batch)
        case .patienceEnded:
            isPatient = false
            for index in services.indices { services[index].isDue = true }
        }
        retryArrears(at: now, &batch)
        expireOverrides(at: now, &batch)
        decideDue(at: now, &batch)
        fetchDue(at: now, &batch)
        return batch.effects(ledger: ledger, overrides: overrides, sleep: sleep())
    }

    mutating func number(_ answer: Answer, of source: Int) -> NumberedAnswer {
        answersNumbered += 1
        return NumberedAnswer(
            number: answersNumbered, answer: answer, defaults: sources[source].defaults)
    }

    /// One wake-up for everything that time brings; said when it changes, or when it was used up.
    private mutating func sleep() -> Effect? {
        var wake = Wake(boot: arrears.retryAt)
        // By index: this runs at every event, and a copy of each state would be most of its cost.
        for index in sources.indices {
            if case .waiting(let moment) = sources[index].activity { wake.include(boot: moment) }
        }
        for index in services.indices {
            wake.include(services[index].wake)
        }
        guard wake != lastWake else { return nil }
        lastWake = wake
        return .sleep(wake)
    }
}

extension Wake {
    mutating func include(boot moment: Boottime) {
        boot = boot.map { min($0, moment) } ?? moment
    }

    mutating func include(wall instant: Instant) {
        wall = wall.map { min($0, instant) } ?? instant
    }

    mutating func include(_ other: Wake) {
        if let moment = other.boot { include(boot: moment) }
        if let instant = other.wall { include(wall: instant) }
    }

    func hasCome(at now: Now) -> Bool {
        boot.map { $0 <= now.boot } ?? false || wall.map { $0 <= now.wall } ?? false
    }
}
