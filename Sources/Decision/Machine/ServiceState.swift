import CivilTime
import JSON

/// The state of one service: its switches, its values and its last record.
///
/// The way of a decision: evidence of its switches → `candidate` → the host guard → `decide` → a
/// record, if the files change. It knows no other services.
struct ServiceState: Hashable, Sendable {
    private(set) var service: Service
    var switches: [SwitchState]
    /// Its variant, if it has one, and its values.
    var values: ServiceValues
    private(set) var installed: Version?
    /// The record that was published last.
    private(set) var record: PublishedVerdict?
    private(set) var entry: Ledger.Entry?
    private(set) var reopening = Reopening()
    private var share = ChangeShare()
    /// Until when the units of its closed gate may run on, also once this has passed; nil if the gate is open, or its
    /// units stopped at once.
    private(set) var drainsUntil: Boottime?
    private(set) var wanted = WantedGate()
    /// The last verdict with an open gate and without an override.
    private(set) var lastOpen: Verdict?
    /// What is wrong with it, as of its last decision.
    private var problems: [ServiceProblem] = []
    /// What is wrong with it, in words.
    private(set) var findings: [Finding] = []
    private(set) var announcements: Announcements
    private(set) var publicNotices: PublicNotices
    /// Whether its configuration changed since it was last decided.
    private(set) var isReconfigured = false
    /// Whether it was decided earlier in this boot, so that its units may be running.
    private(set) var isSameBoot = false
    /// The state in which an earlier run of this boot has left it by flags and policy; nil without one.
    private(set) var stateAtStart: State?
    /// The latest end, window's edge, step or `expires` of each source that has come.
    private(set) var passed: [SourceName: Instant] = [:]
    /// When it is due for a decision: at once after a change, else when time alone may change the decision.
    private(set) var wake = Wake.atOnce

    /// A service that starts with its entry in the ledger. `isForced`: an override is in force. Then the state of the
    /// entry is not the one that flags and policy wanted.
    init(service: Service, entry: Ledger.Entry?, isForced: Bool, bootID: String, at now: Now) {
        self.service = service
        self.entry = entry
        announcements = Announcements(stored: entry?.announced)
        publicNotices = PublicNotices(stored: entry?.published)
        switches = service.switches.map { _ in SwitchState(awaitedSince: now.boot) }
        values = ServiceValues(of: service)
        installed = service.installed?.fixed
        guard let entry, entry.state != .undecided else { return }
        passed = entry.passed(for: service)
        // Nothing was closed while it was observed.
        let state = isFreed ? .running : entry.state
        let gate = service.policy.gate(of: state)
        let isOrdered = !isFreed && (isForced || entry.order != nil)
        let unforced = isOrdered ? entry.order?.unforced : gate
        if let unforced {
            wanted = WantedGate(unforced, isOfThisBoot: entry.bootID == bootID)
            if !isOrdered, gate == .open {
                lastOpen = Verdict(state: state, gate: .open, reason: .starting)
            }
        }
        guard entry.bootID == bootID else { return }
        isSameBoot = true
        stateAtStart = isOrdered ? unforced?.defaultState ?? state : state
        reopening = Reopening(entry, isClosed: gate == .closed, at: now)
        drainsUntil = entry.drainsUntil
    }

    // MARK: - Answers

    /// Offers a new answer of its source to a switch. True if the answer has to be stored. `confirmed` is when the
    /// source confirmed the flags in force before.
    mutating func offer(
        _ answer: inout AnswerReader, to position: Int, confirmed: Confirmation,
        on host: HostState
    ) -> Bool {
        let reading: Reading
        do {
            reading = try read(&answer, at: position)
        } catch {
            markInvalid(error, at: position)
            return false
        }
        if bringsNothingNew(&answer, reading, at: position) {
            let isUnproved = switches[position].replaceAnswer(with: answer.numbered)
            if isUnproved || mayChange(afterConfirmation: confirmed, at: host.now) { markDue() }
            values.read(from: &answer, at: position, of: service)
            return true
        }
        markDue()
        let missing = missingSignatures(
            under: reading, &answer, at: position, confirmed: confirmed, on: host)
        let offer = switches[position].offer(
            answer.numbered, reading, version: version(of: &answer, reading, at: position),
            isForNextStart: service.activation == .nextStart, missing: missing,
            mover: unconfirmedMove(reading, at: position, on: host))
        if offer == .inForce { flagsTookForce(&answer, at: position) }
        return offer != .waits
    }

    /// The source of a switch confirms this answer. False if the switch could not read it: then it has to be offered.
    mutating func confirmAnswer(
        _ newest: Int, at position: Int, confirmed: Confirmation, _ now: Now
    ) -> Bool {
        guard switches[position].newestReadable == newest else { return false }
        if !switches[position].newest.isAccepted {
            switches[position].acceptNewest()
            markDue()
        } else if mayChange(afterConfirmation: confirmed, at: now) {
            markDue()
        }
        return true
    }

    /// Whether it may matter to its verdict that a source confirms flags that it confirmed then.
    private func mayChange(afterConfirmation known: Confirmation, at now: Now) -> Bool {
        known.moment == nil || service.policy.maxStale.map { known.age(at: now) >= $0 } ?? false
    }

    /// Marks the newest answer of a switch's source as invalid. The flags in force stay.
    mutating func markInvalid(_ problem: InvalidFlag, at position: Int) {
        if switches[position].markInvalid(problem) { markDue() }
    }

    /// Changes a switch, which makes the service due for a decision.
    mutating func change(switchAt position: Int, _ change: (inout SwitchState) -> Void) {
        change(&switches[position])
        markDue()
    }

    /// A switch has other flags in force: reads the values from the same answer.
    mutating func flagsTookForce(_ answer: inout AnswerReader, at position: Int) {
        guard switches[position].reading != nil else { return }
        markDue()
        values.read(from: &answer, at: position, of: service)
    }

    // MARK: - Decisions

    /// How many findings about one service are shown.
    private static let mostFindings = 64

    /// Makes it due for a decision.
    mutating func markDue() { wake = .atOnce }

    /// A drill has ended.
    mutating func drillEnded(_ drill: DrillResult) {
        let last = LastDrill(drill, after: entry?.drill)
        entry?.drill = last
        markDue()
    }

    /// Its entry in the ledger could not be read at the start, and can be now. What was told since counts.
    mutating func adopt(_ stored: Ledger.Entry) {
        guard var own = entry else { return entry = stored }
        let next = stored.generation + (own.state == stored.state ? 0 : 1)
        own.generation = max(own.generation, next)
        own.drill = own.drill ?? stored.drill
        own.announced = own.announced ?? stored.announced
        passed.merge(stored.passed ?? [:]) { own, _ in own }
        entry = own
        record?.generation = own.generation
        markDue()
    }

    /// Another version of the software that it runs is installed.
    mutating func versionInstalled(_ version: Version) {
        guard installed != version else { return }
        installed = version
        markDue()
    }

    /// Notes since when the ends and windows of the flags in force are known.
    mutating func updateAnnouncements(_ confirmations: [Confirmation], on host: HostState) {
        announcements.update(from: switches, confirmations, host.trust, at: host.now)
    }

    /// Decides it by the candidate, unless the host guard holds it open or `min_closed` keeps it
    /// closed. Returns the new record; nil if the files stay as they are. `isCounted`: the host guard counts closings,
    /// so that the ledger has since when its ends are known.
    mutating func decide(
        _ candidate: Candidate, isHeld: Bool, isCounted: Bool, _ closing: Closing?,
        on host: HostState, _ messages: inout [LogMessage]
    ) -> PublishedVerdict? {
        isReconfigured = false
        let now = host.now
        let proposal = proposal(of: candidate, isHeld: isHeld)
        reopening.updateTurn(
            for: proposal, since: waitBegins(candidate, at: now),
            part: host.place.part(of: service.policy.openSpread, for: service.name), at: now)
        // Where nothing was closed nothing waits to open again.
        let isOpen = !service.isEnforced || isFreed
        let hold = isOpen ? nil : hold(of: proposal, at: now)
        let turn = isOpen ? nil : candidate.step.flatMap { $0.isTurn ? $0 : nil }
        wanted.update(candidate.unforced.gate, isWaiting: hold != nil || turn != nil)
        var verdict = values.complete(holdClosed(proposal, by: hold, turn), of: service)
        if let count = share.reportCount(at: now.boot) {
            messages.append(.changesHeld(service.name, count))
        }
        let heldUntil =
            isFreed
            ? nil
            : share.hold(
                verdict, after: record?.verdict, minClosed: service.policy.minClosed, at: now.boot)
        if heldUntil != nil, let record { verdict = record.verdict }
        verdict.isEnforced = service.isEnforced
        drainsUntil = service.isEnforced ? drainEnd(after: verdict, at: now) : nil
        let edge = service.nextEdge(of: candidate.evidence, in: candidate.circumstances, at: now)
        let outlook = UpcomingChanges(candidate.evidence, in: candidate.circumstances)
        publicNotices.update(from: outlook, service.notifyBefore, in: service.zone)
        let window = outlook.nextWindow
        let isPublished = hasNewNotices || mustPublish(verdict, edge, window, at: now)
        if isPublished { publish(verdict, isHeld: isHeld, edge, window, on: host, &messages) }
        entry?.published = publicNotices.stored
        entry?.turn = reopening.turn?.boot
        entry?.drainsUntil = drainsUntil
        entry?.closing = closing
        entry?.order = verdict.override.map { .init(until: $0.until, unforced: wanted.last) }
        if isCounted {
            let announced = announcements.stored(at: now.wall)
            if entry?.announced != nil || !announced.isEmpty { entry?.announced = announced }
        } else {
            entry?.announced = nil
        }
        passed = passed(by: candidate)
        // Stored also where nothing has followed from it, such as a step behind a gate that was closed already.
        entry?.passed = passed
        wake = nextWake(candidate, edge, on: host)
        if let wait = publicNotices.next { wake.include(wall: now.wall + wait) }
        if let hold { wake.include(boot: hold.end.boot) }
        if let end = heldUntil ?? share.wake { wake.include(boot: end) }
        if let step = candidate.step { wake.include(boot: step.until) }
        let present = presentProblems(in: candidate.circumstances)
        if present != problems {
            problems = present
            findings = present.prefix(Self.mostFindings).map { $0.finding(of: service.name) }
        }
        return isPublished ? record : nil
    }

    private mutating func publish(
        _ verdict: Verdict, isHeld: Bool, _ edge: Instant, _ window: Window?, on host: HostState,
        _ messages: inout [LogMessage]
    ) {
        let (before, known, now) = (record?.verdict, entry, host.now.wall)
        let isChange = known?.state != verdict.state
        var entry = Ledger.Entry(
            state: verdict.state, since: isChange ? now : known?.since ?? now,
            generation: (known?.generation ?? 0) + (isChange ? 1 : 0), bootID: host.bootID,
            isHeld: isHeld)
        (entry.announced, entry.drill) = (isChange ? [:] : known?.announced, known?.drill)
        entry.isObserved = !service.isEnforced
        if service.announcesChanges {
            // A service that is undecided for a moment, as after a reboot, has not changed.
            let last = known?.announcedState ?? known?.state
            entry.announcedState = verdict.state == .undecided ? last : verdict.state
        }
        self.entry = entry
        record = PublishedVerdict(
            verdict: verdict, since: entry.since, generation: entry.generation, decidedAt: now,
            fetchedAt: fetchedAt(verdict), nextEdge: edge, nextWindow: window,
            notices: hasNewNotices ? publicNotices.pending : record?.notices ?? [],
            drainsUntil: drainsUntil)
        if service.isEnforced {
            reopening.gatePublished(
                verdict.gate, isByOrder: verdict.override != nil, at: host.now)
        } else {
            reopening = Reopening()
        }
        if verdict.gate == .open, verdict.override == nil { lastOpen = verdict }
        if before?.state != verdict.state || before?.reason.slug != verdict.reason.slug
            || before?.isEnforced != verdict.isEnforced
        {
            messages.append(.decided(service.name, verdict, was: known?.state))
        }
        messages += publicNotices.pending.map { .noticePublished(service.name, $0) }
    }

    // MARK: - Reload

    /// The same service under another configuration. Waits go on, and the verdict stays until the next decision.
    init(
        _ before: ServiceState, as service: Service, _ changes: inout [SourceName: SourceChange],
        at now: Now
    ) {
        self = before
        self.service = service
        switches = service.switches.map { before.reconfigured($0, of: service, &changes, at: now) }
        values = ServiceValues(of: service)
        if service.installed != before.service.installed { installed = service.installed?.fixed }
        if isFreed { stateAtStart = stateAtStart.map { _ in .running } }
        isReconfigured =
            service != before.service
            || service.switches.contains { changes[$0.source]?.hasOtherDefaults == true }
        isSameBoot =
            before.isSameBoot || before.record.map(\.verdict.state) ?? .undecided != .undecided
        markDue()
    }
}
