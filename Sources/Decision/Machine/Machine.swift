package import CivilTime

/// The whole decision of the daemon: events in, effects out.
///
/// A value without a clock, a disk or a network. The daemon, `plan`, the tests and the fleet simulation run it.
/// It routes each event to the states that it concerns: `SourceState`, `SwitchState` and `ServiceState` interpret the
/// answers. Do not call `handle` while its effects are performed: the outcome of an effect is a later event.
package struct Machine: Sendable {
    package internal(set) var plan: Plan
    var sources: [SourceState]
    var services = ServiceStates()
    var index: PlanIndex
    var ledger: Ledger
    var host: HostState
    var hostGuard: HostGuard
    /// The guards that are asked before steps; nil if no service has one.
    var stepGuards: StepGuards?
    var pendingWrites = PendingWrites()
    var batch = EffectBatch()
    /// What is wrong with services, sources and the files of the state directory.
    package private(set) var findings = FindingLog()
    private var serviceFindings: [Finding] = []
    // These three are stored, so that nobody copies the machine to look at them after each event.
    /// Whether write operations failed and are retried.
    package private(set) var hasPendingWrites = false
    /// Differs whenever what is told of services and sources does, but for ages and numbers of fetches.
    package internal(set) var overviewRevision = OverviewRevision()
    /// Whether it makes a difference whether the wall clock is synchronised.
    package private(set) var isClockInQuestion = false
    var random: SeededRandom
    /// When the first service is due for a decision, as of the last change of a service.
    private var decisionWake = Wake()
    /// The wake-up that was requested last and has not come.
    private var lastWake: Wake?

    /// A machine for `plan` that starts with the flags, ledger and overrides in `memory`.
    ///
    /// `clockFloor` is the latest instant that surely lies in the past, whatever the clock shows:
    /// the time of the build, or of systemd's clock file.
    package init(
        plan: Plan, memory: Memory, place: HostPlace = .named(""), bootID: String,
        clockFloor: Instant, seed: UInt64, at now: Now
    ) {
        self.plan = plan
        ledger = memory.restoredLedger
        ledger.hasOrders = true
        random = SeededRandom(seed: seed)
        let fetched = memory.flags.values.flatMap(\.answers).map(\.fetchedAt)
        let trust = ClockTrust(
            certain: clockFloor, fetched: fetched, of: plan.sources, at: now)
        host = HostState(
            now: now, trust: trust, bootID: bootID, place: place.within(plan.slots),
            overrides: memory.restoredOverrides(of: plan.services, at: now),
            unreadable: UnreadableRecords(memory, at: now))
        hostGuard = HostGuard(limits: plan.guardLimits)
        stepGuards = StepGuards(plan)
        index = PlanIndex(plan)
        sources = plan.knownSources.map { SourceState(plan: $0, at: now) }
        services = ServiceStates(plan.services.map { makeState(of: $0) })
        for source in sources.indices {
            guard let stored = memory.flags[sources[source].name] else { continue }
            restore(stored, of: source)
        }
        keepOpen(as: memory)
    }

    /// Handles an event that happened at `now`. Returns its effects in the order to perform them.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        if case .writeEnded(let write, problem: nil) = event, pendingWrites.isEmpty {
            // The success of this write alone is waited for.
            guard case .storeVersion = write else { return [] }
        }
        host.now = now
        reassessClock()
        if let due = lastWake?.boot, now.boot - due > Self.tolerance { host.wokenAt = now.boot }
        let answered = route(event)
        retryWrites()
        expireOverrides()
        decideDue()
        servicesChanged()
        if let answered { scheduleNextFetch(of: answered) }
        for source in sources.indices where sources[source].startFetchIfDue(at: now) {
            if index.hasMirrors, startMirror(of: source) { continue }
            batch.add(.fetch(sources[source].name, validators(of: source)))
        }
        protectUnreadable()
        updateFindings()
        let effects = batch.finish(ledger: ledger, overrides: host.overrides, sleep: nextWake())
        hasPendingWrites = !pendingWrites.isEmpty
        isClockInQuestion =
            host.trust.view.hasDifference
            || host.overrides.values.contains { $0.hasEnded(at: now.wall) }
        return effects
    }

    /// How many changes of what is published there were: where it is the same, every record is.
    package var publicationCount: Int { overviewRevision.publications }

    /// How late a wake-up or the end of a fetch may be on a busy host. If it is later, the host was
    /// suspended, or the timer or the fetch was lost.
    private static let tolerance: Duration = .seconds(5)

    var now: Now { host.now }

    /// Routes an event. Returns the source that has answered: its fetch ends after the services are
    /// decided, because the time of the next fetch depends on their verdicts.
    private mutating func route(_ event: Event) -> Int? {
        switch event {
        case .started: reserveVersions()
        case .woke: lastWake = nil
        case .clockStepped:
            lastWake = nil
            markAllDue()
        case .startupWaitEnded:
            host.awaitsFirstAnswers = false
            host.trust.endWait()
            reassessClock()
            markAllDue()
        case .fetchEnded(let name, let outcome, let date, let age):
            guard let source = index.source(name) else { break }
            dateArrived(age > .zero ? nil : date, with: outcome, from: source)
            if !outcome.isFailure { ageArrived(age, from: source) }
            return fetchEnded(outcome, from: source)
        case .hinted(let name):
            if let source = index.source(name) { sources[source].requestFetch(at: now) }
        case .watchChanged(let name, let problem):
            setProblems(.unwatched, of: index.source(name), to: [problem].compactMap(\.self))
        case .signersRead(let name, let problem):
            setProblems(
                .unreadableSigners, of: index.source(name), to: [problem].compactMap(\.self))
        case .warningsChanged(let name, let warnings):
            setProblems(.warning, of: index.source(name), to: warnings)
        case .versionInstalled(let name, let version):
            if let service = index.service(name) { services[service].versionInstalled(version) }
        case .writeEnded(.storeVersion(let name), let problem):
            return index.source(name).flatMap { versionStored(of: $0, problem) }
        case .writeEnded(let operation, let problem): writeEnded(operation, problem)
        case .versionRead(let name, let memory):
            guard let source = index.source(name) else { break }
            sources[source].documents.restore(memory, answers(of: name))
            issueChanged(of: source)
        case .memoryRead(let memory): memoryRead(memory)
        case .disproved(let name, let causes): disprove(name, causes)
        case .filesDeleted(let name): republish(name)
        case .stateDeleted: storeAgain()
        case .force(let service, let override, let ifOpen):
            force(override, on: service, ifOpen: ifOpen)
        case .release(let service, let author, let cause): release(service, by: author, only: cause)
        case .confirm(let services, let author): confirmClosings(of: services, by: author)
        case .guardAnswered(let name, let answer): guardAnswered(name, answer)
        case .drillEnded(let service, let drill, let author):
            drillEnded(drill, of: service, by: author)
        case .activate(let service): activate(service)
        case .forget(let source, let author, let cause):
            forget(source, by: author, versionCause: cause)
        case .reconfigured(let plan, let replaced, let remembered):
            reconfigure(plan, replaced, remembered)
            reserveVersions()
        }
        return nil
    }

    // MARK: - Decisions

    /// Decides the services that are due, all of them together: the host guard judges what one event closes as a whole,
    /// after the guards of each service.
    mutating func decideDue() {
        guard services.areChanged || decisionWake.hasCome(at: now) else { return }
        let due = services.indices.filter { services[$0].wake.hasCome(at: now) }
        if due.isEmpty { return }
        var candidates: [Candidate] = []
        candidates.reserveCapacity(due.count)
        for service in due {
            let confirmations = confirmations(of: service)
            services[service].updateAnnouncements(confirmations, on: host)
            candidates.append(
                services[service].candidate(at: service, confirmations, on: host))
        }
        if stepGuards != nil { holdSteps(of: &candidates) }
        if let notice = hostGuard.holdExcess(of: candidates, at: now) {
            batch.messages.append(notice)
        }
        for candidate in candidates { decide(candidate) }
    }

    private mutating func decide(_ candidate: Candidate) {
        let (service, name) = (candidate.service, candidate.name)
        let known = services[service].entry
        let record = services[service].decide(
            candidate, isHeld: hostGuard.isHeld(name), isCounted: hostGuard.isLimited,
            hostGuard.closing(of: name), on: host, &batch.messages)
        if ledger.entries[name] != services[service].entry {
            ledger.entries[name] = services[service].entry
            batch.isLedgerChanged = true
        }
        guard let record else { return }
        publish(record, of: service)
        // Both start units.
        guard record.verdict.isEnforced else { return }
        if services[service].hasNewNotices { batch.add(.announce(name, .notice)) }
        if let state = services[service].entry?.announcedState, state != .undecided,
            state != known?.announcedState ?? known?.state
        {
            batch.add(.announce(name, .change))
        }
    }

    /// When the sources of a service confirmed the flags of its switches.
    func confirmations(of service: Int) -> [Confirmation] {
        index.sources[service].enumerated().map { position, source in
            guard let source else { return .never }
            let answer = services[service].switches[position].newestReadable
            return sources[source].confirmation(of: answer)
        }
    }

    /// Computes what depends on all services, if one of them may have changed: an event that concerns no service looks
    /// at none.
    mutating func servicesChanged() {
        guard services.areChanged else { return }
        services.areChanged = false
        decisionWake = Wake()
        for service in services.indices { decisionWake.include(services[service].wake) }
        serviceFindings = services.indices.flatMap { services[$0].findings }
        for source in sources.indices {
            sources[source].readership = readership(of: source)
        }
    }

    private func readership(of source: Int) -> Readership {
        let newest = sources[source].answers.first?.number
        let interval = sources[source].plan.interval
        var needs = Readership(hasReadNewest: newest != nil, restsOnNewest: newest != nil)
        for reader in index.switches[source] {
            let (service, position) = (reader.service, reader.position)
            if let newest {
                needs.hasReadNewest =
                    needs.hasReadNewest && services[service].hasRead(newest, at: position)
                needs.restsOnNewest =
                    needs.restsOnNewest && services[service].switches[position].rests(on: newest)
            }
            let pace = services[service].pace(at: position) ?? interval
            needs.pace = needs.pace.map { min($0, pace) } ?? pace
            guard let limit = services[service].service.policy.maxStale else { continue }
            needs.staleAfter = needs.staleAfter.map { min($0, limit) } ?? limit
        }
        return needs
    }

    // MARK: - Findings

    /// Looks at what is wrong, and tells what came and what is over.
    private mutating func updateFindings() {
        var found = pendingWrites.findings + host.unreadable.findings + serviceFindings
        for source in sources.indices where sources[source].isTroubled {
            found += sources[source].findings(at: now)
        }
        for (difference, amount) in host.trust.differences(at: now) {
            found.append(difference.finding(amount))
        }
        if found.isEmpty, findings.present.isEmpty { return }
        let before = findings.present
        let (over, came) = findings.update(to: found, at: now.boot)
        batch.messages += over.map(LogMessage.over) + came.map(LogMessage.came)
        if findings.present != before { overviewRevision.findings += 1 }
    }

    // MARK: - Time

    /// Ends the fetch of a source that has answered. The flags of closed services may ask for another pace.
    mutating func scheduleNextFetch(of source: Int) {
        let pace = sources[source].readership.pace
        if let pace, pace > sources[source].plan.interval {
            host.trust.nextFetchScheduled(of: sources[source].name, after: pace, at: now)
        }
        sources[source].scheduleNextFetch(pace: pace, at: now, using: &random)
    }

    /// Notes a failed fetch.
    mutating func fetchFailed(_ source: Int, _ failure: Failure) {
        var failure = failure
        if index.hasMirrors {
            guard let common = mirrorFailed(failure, of: source) else { return }
            failure = common
        }
        sources[source].fetchFailed(failure, at: now, using: &random)
        guard failure.kind == .invalid else { return }
        for reader in index.switches[source] {
            services[reader.service].markInvalid(
                InvalidFlag(failure), at: reader.position)
        }
    }

    /// The wake-up for the earliest deadline of all; nil if it was requested already.
    private mutating func nextWake() -> Effect? {
        var wake = decisionWake
        if let moment = pendingWrites.retryAt { wake.include(boot: moment) }
        if let moment = host.unreadable.retryAt { wake.include(boot: moment) }
        // By position: a copy of a state costs more than what is asked of it.
        for source in sources.indices {
            if let moment = sources[source].nextFetch { wake.include(boot: moment) }
        }
        guard wake != lastWake else { return nil }
        lastWake = wake
        return .sleep(wake)
    }

    /// Whether every source has a fetch in flight inside its time limit, or a timer ahead. The watchdog depends on this
    /// alone: systemd restarts the daemon after a lost timer or a fetch that never ends.
    package func isProgressing(at now: Now) -> Bool {
        sources.allSatisfy {
            $0.isProgressing(at: now, wakeUp: lastWake?.boot, tolerance: Self.tolerance)
        }
    }
}

/// The states of the services in the order of the plan, and whether one of them may have changed.
struct ServiceStates: RandomAccessCollection, MutableCollection, Sendable {
    private var states: [ServiceState]
    var areChanged = true

    /// These states, in their order.
    init(_ states: [ServiceState] = []) { self.states = states }

    var startIndex: Int { 0 }
    var endIndex: Int { states.count }

    subscript(position: Int) -> ServiceState {
        // A state is asked where it lies: to copy it costs more than most questions.
        _read { yield states[position] }
        _modify {
            areChanged = true
            yield &states[position]
        }
    }
}
