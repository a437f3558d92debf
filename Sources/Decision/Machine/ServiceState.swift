import CivilTime
import JSON

/// What the machine knows of one service, and how that becomes a verdict and a record of it.
///
/// The way of a decision: evidence of its switches → `candidate` → what the host guard says to that →
/// `decide` → a publication, where the files have to say something new. It knows nothing of other
/// services, and of its sources nothing but the answers that they give.
struct ServiceState: Hashable, Sendable {
    private(set) var service: Service
    private(set) var switches: [SwitchState]
    /// Its variant, where it has one, and its values.
    private(set) var values: ServiceValues
    /// The installed version of what it runs, where that is known.
    private(set) var installed: Version?
    /// What was last published.
    private(set) var record: Record?
    /// What the ledger says of it.
    private(set) var entry: Ledger.Entry?
    /// When the first answer of any of its sources came since the start.
    private(set) var firstAnswerAt: Boottime?
    /// When the gate last closed; nil while it is open.
    private(set) var closedAt: Boottime?
    /// The gate that its flags and its policy wanted when it was last decided, whatever an operator
    /// ordered; nil where that is not known.
    private(set) var wanted: Gate?
    /// The last verdict with an open gate that was no operator's order.
    private(set) var lastOpen: Verdict?
    /// Whether its flags or its configuration changed since it was last decided.
    private(set) var hasNews = false
    /// Whether its units may run since earlier in this boot.
    private(set) var isSameBoot = false
    /// When the state began that an earlier run left: what had come true by then stays true while the
    /// clock is not believed.
    private(set) var knownPast: Instant?
    /// When time alone makes it due for a decision.
    private(set) var wake = Wake()
    /// Whether something changed since it was last decided.
    private var isMarkedDue = true

    /// A service that begins with what the ledger says of it. `isForced`: an operator's order is in
    /// force, so that the ledger says nothing about its flags.
    init(
        service: Service, entry: Ledger.Entry?, isForced: Bool, bootID: String, at now: Now
    ) {
        self.service = service
        self.entry = entry
        switches = service.switches.map { _ in SwitchState(awaitedSince: now.boot) }
        values = ServiceValues(of: service)
        if case .version(let version) = service.installed { installed = version }
        guard let entry, entry.state != .undecided else { return }
        knownPast = entry.since
        let gate = service.policy.gate(of: entry.state)
        if !isForced {
            wanted = gate
            if gate == .open {
                lastOpen = Verdict(state: entry.state, gate: .open, reason: .starting)
            }
        }
        guard entry.bootID == bootID else { return }
        isSameBoot = true
        if gate == .closed { closedAt = now.boot - max(.zero, now.wall - entry.since) }
    }

    // MARK: - Answers

    /// Offers a new answer of its source to a switch; true where the answer has to be kept.
    mutating func offer(
        _ answer: NumberedAnswer, to position: Int, _ override: Override?, in context: Context,
        _ notices: inout [Notice]
    ) -> Bool {
        isMarkedDue = true
        let plan = service.switches[position]
        let result = answer.read(by: plan.format, in: service.zone)
        let offer = switches[position].offer(
            answer, readAs: result, isForNextStart: service.activation == .nextStart,
            confirmations: confirmations(of: result, at: position, override, in: context),
            at: context.now)
        switch offer {
        case .refused(let problem, let isNew):
            if isNew { notices.append(.answerInvalid(service.name, plan.source, problem)) }
            return false
        case .unconfirmed:
            hear(at: context.now)
            return false
        case .staged:
            hear(at: context.now)
            return true
        case .inForce(let before):
            hear(at: context.now)
            use(answer, at: position, before: before, &notices)
            return true
        }
    }

    /// Takes in that the source of a switch confirms its newest answer. A switch that could not read
    /// it is offered it again; true where it could now.
    mutating func confirm(
        _ newest: NumberedAnswer, at position: Int, _ override: Override?, in context: Context,
        _ notices: inout [Notice]
    ) -> Bool {
        let known = switches[position]
        guard known.newestReadable == newest.number else {
            return offer(newest, to: position, override, in: context, &notices)
        }
        let age = known.confirmation.age(at: context.now)
        let wasStale = service.policy.maxStale.map { age >= $0 } ?? false
        if !known.isAnswered || known.problem != nil || known.unconfirmed != nil || wasStale {
            isMarkedDue = true
        }
        switches[position].confirm(at: context.now)
        hear(at: context.now)
        return false
    }

    /// Lets a switch keep its flags, and say why the newest answer of its source does not count.
    mutating func refuse(_ problem: InvalidFlag, at position: Int, _ notices: inout [Notice]) {
        guard switches[position].refuse(problem) else { return }
        isMarkedDue = true
        let source = service.switches[position].source
        notices.append(.answerInvalid(service.name, source, problem))
    }

    /// Notes that an inherited answer is its source's own.
    mutating func acceptAsOwn(_ answer: NumberedAnswer, at position: Int) {
        switches[position].acceptAsOwn(answer)
    }

    /// Puts the answer in force that is staged for a switch, if it is among these.
    mutating func activate(
        from answers: [NumberedAnswer], at position: Int, _ notices: inout [Notice]
    ) {
        guard let staged = switches[position].staged,
            let answer = answers.first(where: { $0.number == staged }),
            case .success(let reading) = answer.read(
                by: service.switches[position].format, in: service.zone)
        else { return }
        let before = switches[position].activate(answer, reading)
        use(answer, at: position, before: before, &notices)
    }

    /// Lets a switch rest on the newest of the stored answers that it can read, and its values too.
    mutating func adopt(
        _ answers: [NumberedAnswer], confirmed: Confirmation, at position: Int
    ) {
        switches[position].adopt(
            answers, confirmed: confirmed, by: service.switches[position].format, in: service.zone)
        if let moment = switches[position].confirmation.moment {
            firstAnswerAt = firstAnswerAt ?? moment
        }
        values.adopt(answers, lead: switches[position].answer?.number, at: position, of: service)
    }

    /// Adopts what is known of a switch's source after a reload. True where the switch is new and
    /// could read none of it, so that its source has to be fetched at once.
    mutating func serve(
        _ answers: [NumberedAnswer], confirmed: Confirmation, at position: Int, _ now: Now
    ) -> Bool {
        guard switches[position].reading == nil else {
            values.adopt(
                answers, lead: switches[position].answer?.number, at: position, of: service)
            return false
        }
        adopt(answers, confirmed: confirmed, at: position)
        return switches[position].reading == nil && switches[position].awaitedSince == now.boot
    }

    /// Drops what a switch has read, by an operator's order, and waits for its source as at a start.
    mutating func forget(at position: Int, _ now: Now) {
        switches[position] = SwitchState(awaitedSince: now.boot)
        isMarkedDue = true
    }

    /// Takes in that a switch has other flags in force: says what is doubtful in them, and reads the
    /// values that go with them.
    private mutating func use(
        _ answer: NumberedAnswer, at position: Int, before: Reading?, _ notices: inout [Notice]
    ) {
        guard let reading = switches[position].reading else { return }
        isMarkedDue = true
        if before?.claims != reading.claims { hasNews = true }
        tellDoubts(of: reading, at: position, before: before, &notices)
        values.take(answer, at: position, of: service, &notices)
    }

    /// An answer was good for one of its switches.
    private mutating func hear(at now: Now) {
        firstAnswerAt = firstAnswerAt ?? now.boot
    }

    // MARK: - Decisions

    /// Whether something changed since it was last decided, or time has come.
    func isDue(at now: Now) -> Bool { isMarkedDue || wake.hasCome(at: now) }

    /// Has it decided anew though nothing is known to have changed.
    mutating func markDue() { isMarkedDue = true }

    /// Takes in the installed version of what it runs.
    mutating func install(_ version: Version) {
        guard installed != version else { return }
        installed = version
        isMarkedDue = true
    }

    /// What it would be decided to be, before the host guard has looked at it. It is not due any more.
    mutating func candidate(
        at index: Int, _ override: Override?, in context: Context
    ) -> Candidate {
        isMarkedDue = false
        let circumstances = circumstances(override, in: context)
        let evidence = evidence(in: context)
        let verdict = keepDecided(service.decide(evidence, in: circumstances))
        return Candidate(
            service: index, name: service.name, evidence: evidence, circumstances: circumstances,
            verdict: verdict,
            unforced: verdict.override == nil
                ? verdict : service.decide(evidence, in: circumstances.unforced),
            wanted: wanted, hasNews: hasNews)
    }

    /// Decides it as the candidate says, unless the host guard holds it open or it closed just now.
    /// Gives what has to be published; nil where the files say so already.
    mutating func decide(
        _ candidate: Candidate, isHeld: Bool, in context: Context
    ) -> Publication? {
        hasNews = false
        wanted = candidate.unforced.gate ?? wanted
        let now = context.now
        let wish = isHeld ? holdOpen(candidate.verdict) : candidate.verdict
        let verdict = values.complete(holdClosed(wish, at: now), of: service)
        let edge = service.nextEdge(of: candidate.evidence, in: candidate.circumstances, at: now)
        var publication: Publication?
        if mustPublish(verdict, edge, at: now), !isAwaiting(verdict) {
            publication = publish(verdict, isHeld: isHeld, edge, in: context)
        }
        wake = nextWake(candidate, edge, in: context)
        if verdict.gate != wish.gate, let reopening { wake.include(boot: reopening) }
        return publication
    }

    private mutating func publish(
        _ verdict: Verdict, isHeld: Bool, _ edge: Instant, in context: Context
    ) -> Publication {
        let (before, known, now) = (record?.verdict, entry, context.now.wall)
        let isChange = known?.state != verdict.state
        let entry = Ledger.Entry(
            state: verdict.state, since: isChange ? now : known?.since ?? now,
            generation: (known?.generation ?? 0) + (isChange ? 1 : 0), bootID: context.bootID,
            isHeld: isHeld)
        let record = Record(
            verdict: verdict, since: entry.since, generation: entry.generation, decidedAt: now,
            fetchedAt: fetchedAt(verdict), nextEdge: edge)
        if verdict.gate == .closed, before?.gate != .closed, closedAt == nil {
            closedAt = context.now.boot
        } else if verdict.gate == .open {
            closedAt = nil
        }
        if verdict.gate == .open, verdict.override == nil { lastOpen = verdict }
        self.entry = entry
        self.record = record
        let isNew = before?.state != verdict.state || before?.reason.slug != verdict.reason.slug
        return Publication(
            record: record, entry: entry == known ? nil : entry,
            notice: isNew ? .decided(service.name, verdict, was: known?.state) : nil)
    }

    // MARK: - Reload

    /// The same service as another configuration has it. A waiting state goes on to wait, and what
    /// was decided stays decided.
    init(
        _ before: ServiceState, as service: Service, _ changes: [SourceName: SourceChange],
        at now: Now
    ) {
        self = before
        self.service = service
        switches = service.switches.map { plan in
            before.continued(plan, of: service, on: changes[plan.source], at: now)
        }
        values = ServiceValues(of: service)
        installed = before.installed(under: service.installed)
        firstAnswerAt =
            before.firstAnswerAt ?? switches.compactMap(\.confirmation.moment).min()
        hasNews =
            service != before.service
            || service.switches.contains { changes[$0.source]?.hasOtherDefaults == true }
        isSameBoot =
            before.isSameBoot || before.record.map(\.verdict.state) ?? .undecided != .undecided
        wake = Wake()
        isMarkedDue = true
    }
}
