package import CivilTime

/// The whole decision of the daemon: events in, effects out.
///
/// A value without a clock, a disk or a network. The daemon, `simulate`, the tests and the fleet
/// simulation run this same code. Do not call `handle` while its effects are performed: the outcome
/// of an effect is a later event.
///
/// The machine routes each event to the states that it concerns, and collects their effects.
/// `SourceState`, `SwitchState` and `ServiceState` interpret the answers.
package struct Machine: Sendable {
    /// The configuration.
    package internal(set) var plan: Plan
    var sources: [SourceState]
    var services: [ServiceState]
    var index: PlanIndex
    var ledger: Ledger
    var overrides: [ServiceName: Override]
    var trust: ClockTrust
    var hostGuard: HostGuard
    var pendingWrites = PendingWrites()
    private var random: SeededRandom
    let bootID: String
    /// Whether services wait for first answers.
    private var awaitsFirstAnswers = true
    /// How often effects changed what is published: where it is the same, every record is.
    package private(set) var publications = 0
    /// When the host last woke up, or the daemon last ran again after a pause.
    private var wokenAt: Boottime?
    /// The wake-up that was requested last and has not come.
    private var lastWake: Wake?

    /// A machine for `plan` that starts with the flags, ledger and overrides in `memory`.
    ///
    /// `clockFloor` is the latest instant that surely lies in the past, whatever the clock shows:
    /// the time of the build, or of systemd's clock file.
    package init(
        plan: Plan, memory: Memory, bootID: String, clockFloor: Instant, seed: UInt64, at now: Now
    ) {
        self.plan = plan
        self.bootID = bootID
        ledger = memory.ledger
        overrides = memory.overrides
        random = SeededRandom(seed: seed)
        let fetched = memory.flags.values.flatMap(\.answers).map(\.fetchedAt)
        trust = ClockTrust(floor: fetched.reduce(clockFloor, max))
        hostGuard = HostGuard(limit: plan.closeAtOnce)
        index = PlanIndex(plan)
        let readers = plan.readers
        sources = plan.sources.map {
            SourceState(plan: $0, readers: readers[$0.name] ?? [], at: now)
        }
        services = []
        services = plan.services.map { begin($0, at: now) }
        for source in sources.indices {
            guard let stored = memory.flags[sources[source].name] else { continue }
            restore(stored, to: source)
        }
    }

    /// Takes in an event that happened at `now`, and returns its effects in the order to perform
    /// them.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        if case .recorded(_, problem: nil) = event, pendingWrites.isEmpty { return [] }
        var batch = EffectBatch()
        if let due = lastWake?.boot, now.boot - due > Self.tolerance { wokenAt = now.boot }
        let answered = take(event, at: now, &batch)
        retryWrites(at: now, &batch)
        expireOverrides(at: now, &batch)
        decideDue(at: now, &batch)
        if let answered { rest(answered, at: now) }
        beginFetches(at: now, &batch)
        let effects = batch.effects(ledger: ledger, overrides: overrides, sleep: sleep())
        if effects.contains(where: \.changesPublished) { publications += 1 }
        return effects
    }

    /// How late a wake-up or the end of a fetch may be on a busy host. If it is later, the host was
    /// suspended, or the timer or the fetch was lost.
    private static let tolerance: Duration = .seconds(5)

    /// Routes an event. Returns the source that has answered: its fetch ends after the services are
    /// decided, because the time of the next fetch depends on their verdicts.
    private mutating func take(_ event: Event, at now: Now, _ batch: inout EffectBatch) -> Int? {
        switch event {
        case .started: break
        case .woke: lastWake = nil
        case .clockStepped:
            lastWake = nil
            markAllDue()
        case .waitEnded:
            awaitsFirstAnswers = false
            markAllDue()
        case .fetched(let name, let outcome, let date):
            if let date { trust.observe(date: date, at: now) }
            guard let source = index.source(name) else { break }
            return receive(outcome, from: source, at: now, &batch)
        case .hinted(let name):
            if let source = index.source(name) { sources[source].hint(at: now) }
        case .watched(let name, let problem):
            guard let source = index.source(name), sources[source].note(watchProblem: problem),
                let problem
            else { break }
            batch.notices.append(.sourceUnwatched(name, problem))
        case .warned(let name, let warnings):
            guard let source = index.source(name) else { break }
            batch.notices += sources[source].note(warnings: warnings).map {
                .sourceWarned(name, $0)
            }
        case .installed(let name, let version):
            if let service = index.service(name) { services[service].install(version) }
        case .recorded(let operation, let problem):
            note(operation, problem, at: now, &batch)
        case .override(let service, let override, let ifOpen):
            order(override, for: service, ifOpen: ifOpen, at: now, &batch)
        case .release(let service, let author, let cause):
            release(service, by: author, only: cause, &batch)
        case .confirm(let services, let author): confirmClosing(of: services, by: author, &batch)
        case .activate(let service): activate(service, &batch)
        case .forget(let source, let author): forget(source, by: author, at: now, &batch)
        case .reconfigured(let plan, let replaced, let remembered):
            reconfigure(plan, replaced, remembered, at: now, &batch)
        }
        return nil
    }

    private mutating func markAllDue() {
        for service in services.indices { services[service].markDue() }
    }

    // MARK: - Decisions

    /// The state of the host on which every decision at `now` depends.
    func hostState(at now: Now) -> HostState {
        HostState(
            now: now, trust: trust, awaitsFirstAnswers: awaitsFirstAnswers, wokenAt: wokenAt,
            bootID: bootID)
    }

    /// Decides every service that is due.
    mutating func decideDue(at now: Now, _ batch: inout EffectBatch) {
        let host = hostState(at: now)
        var candidates: [Candidate] = []
        for service in services.indices where services[service].isDue(at: now) {
            let override = overrides[services[service].service.name]
            candidates.append(services[service].candidate(at: service, override, on: host))
        }
        if let notice = hostGuard.judge(candidates) { batch.notices.append(notice) }
        for candidate in candidates {
            let publication = services[candidate.service].decide(
                candidate, isHeld: hostGuard.isHeld(candidate.name), on: host)
            guard let publication else { continue }
            if let entry = publication.entry {
                ledger.entries[candidate.name] = entry
                batch.isLedgerChanged = true
            }
            if let notice = publication.notice { batch.notices.append(notice) }
            batch.publications.append(
                .publish(services[candidate.service].service, publication.record))
        }
    }

    // MARK: - Time

    /// Ends the fetch of a source that has answered. The flags of its closed services may ask for
    /// another pace than the interval.
    private mutating func rest(_ source: Int, at now: Now) {
        let interval = sources[source].interval
        var pace: Duration?
        for reader in sources[source].readers {
            let own = services[reader.service].retryAfter(at: reader.position) ?? interval
            pace = pace.map { min($0, own) } ?? own
        }
        sources[source].rest(pace: pace, at: now, using: &random)
    }

    /// Notes a failed fetch, with a notice if the failure is another than before.
    mutating func fail(
        _ source: Int, _ failure: Failure, at now: Now, _ batch: inout EffectBatch
    ) {
        let (wait, isNew) = sources[source].fail(failure, at: now, using: &random)
        if isNew {
            batch.notices.append(.sourceFailed(sources[source].name, failure, retryIn: wait))
        }
        guard failure.kind == .invalid else { return }
        for reader in sources[source].readers {
            services[reader.service].markInvalid(
                .notFlags(failure.detail), at: reader.position, &batch.notices)
        }
    }

    /// Begins the fetches that are due.
    private mutating func beginFetches(at now: Now, _ batch: inout EffectBatch) {
        for source in sources.indices where sources[source].beginFetch(at: now) {
            batch.fetches.append(.fetch(sources[source].name, validators(of: source)))
        }
    }

    /// The wake-up for the earliest deadline of all; nil if it was requested already.
    private mutating func sleep() -> Effect? {
        var wake = Wake(boot: pendingWrites.retryAt)
        // By index: this runs at every event, and copies of the states would be most of its cost.
        for source in sources.indices {
            if let moment = sources[source].nextFetch { wake.include(boot: moment) }
        }
        for service in services.indices { wake.include(services[service].wake) }
        guard wake != lastWake else { return nil }
        lastWake = wake
        return .sleep(wake)
    }

    /// Whether every source has a fetch in flight inside its time limit, or a timer ahead. The
    /// watchdog depends on this answer alone, so that systemd restarts the daemon after a lost
    /// timer or a fetch that never ends.
    package func isProgressing(at now: Now) -> Bool {
        sources.allSatisfy {
            $0.isProgressing(at: now, wakeUp: lastWake?.boot, tolerance: Self.tolerance)
        }
    }
}
