import CivilTime

/// Why a step that is due does not come yet.
indirect enum StepHold: Hashable, Sendable {
    /// The guard has not answered since the step is due: for seconds, and the gate stays as it is.
    case unanswered
    case held(GuardHold)
}

/// The guards of this host: which steps wait for them, and what each of them has answered. A host without guards has
/// none.
///
/// A guard is asked only while a step waits for it, one question at a time, whatever the number of services. Its answer
/// counts for all steps that are due within five seconds.
struct StepGuards: Sendable {
    private var guards: [ServiceName: GuardName]
    private var states: [GuardName: GuardState] = [:]
    /// The services with a step that is due and has not come, and since when.
    private var waits: [ServiceName: Boottime] = [:]
    /// The services whose step an operator lets come. Left when the step has come, or is gone.
    private var confirmed: Set<ServiceName> = []

    /// Whether a step that is due comes.
    enum Permission {
        case comes
        /// It waits; its service is decided again at `until`, or when the guard answers.
        case waits(StepHold, until: Boottime, asksNow: Bool)
    }

    /// The guards of a plan; nil if no service has one.
    init?(_ plan: Plan) {
        guard !plan.guards.isEmpty else { return nil }
        guards = plan.guards
    }

    /// The same guards under another configuration. What passed may not pass any more, so that it is asked again; why
    /// a step is held is still told until then. No question of before is answered.
    init?(_ before: StepGuards?, _ plan: Plan) {
        self.init(plan)
        guard let before else { return }
        let guards = guards
        waits = before.waits.filter { service, _ in
            guards[service] != nil && guards[service] == before.guards[service]
        }
        confirmed = before.confirmed.intersection(Set(waits.keys))
        let names = Set(guards.values)
        states = before.states.filter { names.contains($0.key) }.mapValues { $0.reconfigured() }
    }

    /// The guard that a service asks; nil without one.
    func name(for service: ServiceName) -> GuardName? { guards[service] }

    /// Whether a step of a service waits for its guard.
    func isWaiting(_ service: ServiceName) -> Bool { waits[service] != nil }

    /// Why the step of a service is held; nil if none is due.
    func hold(of service: ServiceName) -> StepHold? {
        guards[service].flatMap { hold(of: service, by: $0, states[$0]) }
    }

    private func hold(
        of service: ServiceName, by name: GuardName, _ state: GuardState?
    ) -> StepHold? {
        guard let since = waits[service] else { return nil }
        guard let cause = state?.cause(forStepDue: since) else { return .unanswered }
        return .held(GuardHold(name: name, cause: cause))
    }

    /// A step of a service is due: says whether it comes, and has the guard asked where that is needed.
    mutating func stepIsDue(
        of service: ServiceName, at now: Boottime, using random: inout some RandomNumberGenerator
    ) -> Permission {
        guard let name = guards[service], confirmed.remove(service) == nil else {
            waits[service] = nil
            return .comes
        }
        var state = states[name] ?? GuardState()
        defer { states[name] = state }
        if state.answer == .passes, state.isShared(at: now) {
            waits[service] = nil
            return .comes
        }
        if waits[service] == nil {
            waits[service] = now
            if !state.isShared(at: now) { state.request(at: now, using: &random) }
        }
        let (next, asksNow) = state.nextQuestion(at: now, using: &random)
        let hold = hold(of: service, by: name, state) ?? .unanswered
        return .waits(hold, until: next, asksNow: asksNow)
    }

    /// No step of a service is due any more.
    mutating func stepIsGone(of service: ServiceName) {
        if waits.isEmpty { return }
        waits[service] = nil
        confirmed.remove(service)
    }

    /// A guard has answered. Returns the services whose steps wait for it.
    mutating func answered(
        _ name: GuardName, _ answer: GuardAnswer, at now: Now,
        using random: inout some RandomNumberGenerator
    ) -> [ServiceName] {
        guard states[name]?.answered(answer, at: now, using: &random) == true else { return [] }
        return waits.keys.filter { guards[$0] == name }
    }

    /// An operator lets the steps of these services come. Returns those that wait for a guard.
    mutating func confirm(_ names: [ServiceName]) -> [ServiceName] {
        let waiting = names.filter(isWaiting)
        confirmed.formUnion(waiting)
        return waiting
    }

    /// The guards that were asked lately or that hold steps, in the order of their names.
    func views(at now: Now) -> [Overview.GuardView] {
        states.sorted { $0.key < $1.key }.compactMap { name, state in
            let services = waits.keys.filter { guards[$0] == name }.sorted()
            return state.view(of: name, services, at: now)
        }
    }
}

// MARK: - Steps

/// A step of a service that waits for its guard.
struct WaitingStep {
    let hold: StepHold
    /// When its service is decided again.
    let until: Boottime
    /// Whether it is the turn of this host to open the gate; else it is a step of a rollout.
    let isTurn: Bool
}

extension Machine {
    /// Holds the steps of these services that their guards do not let come. It is called only where some service has a
    /// guard.
    mutating func holdSteps(of candidates: inout [Candidate]) {
        let now = now
        for index in candidates.indices {
            let (service, name) = (candidates[index].service, candidates[index].name)
            guard stepGuards?.name(for: name) != nil else { continue }
            guard let due = services[service].dueStep(candidates[index], on: host) else {
                stepGuards?.stepIsGone(of: name)
                continue
            }
            // Behind an operator's order nobody is asked: the step waits for its end.
            guard candidates[index].circumstances.overrideInForce == nil else {
                stepGuards?.stepIsGone(of: name)
                hold(due, .unanswered, until: nil, &candidates[index])
                continue
            }
            let permission = stepGuards?.stepIsDue(of: name, at: now.boot, using: &random)
            guard case .waits(let reason, let next, let asksNow) = permission else { continue }
            hold(due, reason, until: next, &candidates[index])
            if asksNow, let asked = stepGuards?.name(for: name) { batch.add(.ask(asked)) }
        }
    }

    private func hold(
        _ step: DueStep, _ hold: StepHold, until next: Boottime?, _ candidate: inout Candidate
    ) {
        if step == .closing {
            services[candidate.service].holdClosing(of: &candidate, hold, on: host)
        }
        guard let next else { return }
        candidate.step = WaitingStep(hold: hold, until: next, isTurn: step == .turn)
    }

    /// A guard has answered: the services that wait for it are decided.
    mutating func guardAnswered(_ name: GuardName, _ answer: GuardAnswer) {
        let now = now
        let waiting = stepGuards?.answered(name, answer, at: now, using: &random) ?? []
        for service in waiting.compactMap(index.service) { services[service].markDue() }
        if !waiting.isEmpty { overviewRevision.guardAnswers += 1 }
    }
}

/// A step for which a guard is asked.
enum DueStep {
    /// A step of a rollout that closes the gate.
    case closing
    /// The turn of this host, in an opening that is spread.
    case turn
}

extension ServiceState {
    /// The step that would move the gate now; nil without one. A host that takes part in an order stays in it, also
    /// behind an operator's order and over restarts: its step has come.
    func dueStep(_ candidate: Candidate, on host: HostState) -> DueStep? {
        if candidate.unforced.gate == .closed {
            guard wanted.last != .closed, hasRollout else { return nil }
            var circumstances = candidate.circumstances.unforced
            circumstances.stepHold = .unanswered
            // After a boot it may be undecided: then no source has answered yet.
            return service.decide(candidate.evidence, in: circumstances).gate == .closed
                ? nil : .closing
        }
        guard candidate.verdict.gate == .open, candidate.verdict.override == nil,
            let turn = reopening.turn, turn.boot <= host.now.boot,
            host.place.part(of: service.policy.openSpread, for: service.name) > .zero,
            hold(of: candidate.verdict, at: host.now) == nil
        else { return nil }
        return .turn
    }

    private var hasRollout: Bool {
        switches.indices.contains { switches[$0].reading?.rollout != nil }
    }

    /// Replaces what the step would close. While the guard has not answered yet the gate stays as it is: nothing is
    /// started only to be stopped, nor the other way round.
    func holdClosing(of candidate: inout Candidate, _ hold: StepHold, on host: HostState) {
        var circumstances = candidate.circumstances.unforced
        circumstances.stepHold = hold
        candidate.unforced = service.decide(candidate.evidence, in: circumstances)
        guard candidate.verdict.override == nil else { return }
        candidate.verdict =
            hold == .unanswered && gateBefore != .open && host.awaitsFirstAnswers
            ? keepDecided(.undecided(.starting)) : candidate.unforced
    }

    /// The reason while the turn of this host to open the gate waits for a guard.
    func reason(of step: WaitingStep, _ source: SourceName) -> Reason? {
        switch step.hold {
        case .unanswered:
            reopening.turn.map { .reopening(source, at: service.zone.zoned($0.wall)) }
        case .held(let hold): .awaitingGuard(source, hold, isTurn: true)
        }
    }
}
