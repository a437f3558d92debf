import CivilTime

extension Machine {
    /// Goes on with another plan.
    ///
    /// What stays as it was keeps what it knows; what is new begins with what is known of its source,
    /// and where that is not enough, its source is asked at once; the files of what is gone go. A
    /// service that waits for a new switch keeps its verdict, at most `first_timeout`. So a reload
    /// alone moves no gate: what the flags say under the new configuration may.
    ///
    /// A source is the same as long as its name is, as at a start: the flags of another address stay
    /// in force until the new one has given some, and one that comes back finds what is stored of it.
    /// A source that is asked by another object has no fetch under way any more, and is asked at once.
    mutating func reconfigure(
        _ plan: Plan, _ replaced: [SourceName: Replacement],
        _ remembered: [SourceName: Memory.Kept], at now: Now, _ batch: inout Batch
    ) {
        let before = (sources: sources, services: services, wiring: wiring)
        wiring = Wiring(plan)
        closeAtOnce = plan.closeAtOnce
        var changes: [SourceName: SourceChange] = [:]
        sources = plan.sources.map { plan in
            guard let known = before.wiring.source(plan.name).map({ before.sources[$0] }) else {
                return SourceState(plan: plan, at: now)
            }
            let replacement = replaced[plan.name]
            changes[plan.name] = SourceChange(
                hasOtherAddress: replacement == .otherAddress,
                hasOtherDefaults: known.defaults != plan.defaults)
            return known.continued(plan, replacement, at: now)
        }
        services = plan.services.map { service in
            guard let index = before.wiring.service(service.name) else {
                return ServiceState(
                    service: service, entry: ledger.entries[service.name],
                    isForced: overrides[service.name] != nil, bootID, at: now)
            }
            return continued(before.services[index], as: service, changes, at: now)
        }
        for index in sources.indices {
            if let kept = remembered[sources[index].name], sources[index].answers.isEmpty {
                for answer in kept.answers { trust.raiseFloor(to: answer.fetchedAt) }
                restore(kept, to: index)
            }
            serveNewcomers(of: index, at: now)
        }
        for service in services where service.service.activation == .immediate {
            if service.switches.contains(where: { $0.staged != nil }) {
                activate(service.service.name, &batch)
            }
        }
        for service in before.services where wiring.service(service.service.name) == nil {
            batch.departures.append(.withdraw(service.service.name))
        }
        for source in before.sources where wiring.source(source.name) == nil {
            batch.departures.append(.drop(source.name))
        }
        arrears.deeds.removeAll { before.wiring.loses($0, in: wiring) }
    }

    /// What a reload changes about a source that stays.
    private struct SourceChange {
        let hasOtherAddress: Bool
        let hasOtherDefaults: Bool
    }

    private func continued(
        _ before: ServiceState, as service: Service, _ changes: [SourceName: SourceChange],
        at now: Now
    ) -> ServiceState {
        let switches = service.switches.map { plan in
            guard let change = changes[plan.source], let index = wiring.source(plan.source) else {
                return SwitchState(awaitedSince: now.boot)
            }
            var state = before.continued(
                plan, of: service, on: sources[index], isReadAnew: change.hasOtherDefaults, at: now)
            if change.hasOtherAddress { state.inherit(at: now) }
            return state
        }
        let isDecided = before.record.map { $0.verdict.state != .undecided } ?? false
        var state = ServiceState(
            service: service, switches: switches, isSameBoot: before.isSameBoot || isDecided)
        state.firstAnswerAt = before.firstAnswerAt ?? switches.compactMap(\.answeredAt).min()
        state.record = before.record
        state.closedAt = before.closedAt
        state.hold = before.hold
        state.wanted = before.wanted
        state.lastOpen = before.lastOpen
        state.hasNews =
            service != before.service
            || service.switches.contains { changes[$0.source]?.hasOtherDefaults == true }
        state.knownPast = before.knownPast
        state.installed = before.installed(under: service.installed)
        state.remote = service.remote.map { HeldValue(value: $0.fallback) }
        return state
    }

    /// Gives switches without a reading what is known of their source. One that is new and cannot
    /// read it is waited for as at a start.
    private mutating func serveNewcomers(of index: Int, at now: Now) {
        var isAskedAtOnce = false
        for user in wiring.users(of: index) {
            guard services[user.service].switches[user.position].reading == nil else {
                adoptValues(of: user, from: sources[index].answers)
                continue
            }
            adopt(sources[index].answers, confirmed: sources[index].confirmation, by: user)
            let state = services[user.service].switches[user.position]
            if state.reading == nil, state.awaitedSince == now.boot { isAskedAtOnce = true }
        }
        pruneAnswers(of: index)
        if isAskedAtOnce { hint(sources[index].name, at: now) }
    }
}

extension SourceState {
    /// The same source under another plan.
    fileprivate func continued(
        _ plan: SourcePlan, _ replacement: Replacement?, at now: Now
    ) -> SourceState {
        var state = self
        state.timeout = plan.timeout
        if plan.interval != schedule.interval {
            state.schedule.interval = plan.interval
            state.hasten(to: now.boot + plan.interval)
        }
        if plan.defaults != defaults {
            state.defaults = plan.defaults
            state.answers = answers.map {
                NumberedAnswer(number: $0.number, answer: $0.answer, defaults: plan.defaults)
            }
        }
        switch replacement {
        case nil: break
        case .sameAddress: state.beginAnew(at: now)
        case .otherAddress: state.inherit(plan, at: now)
        }
        return state
    }

    /// Asks no later than at `moment`, but where the source wants to be left alone.
    private mutating func hasten(to moment: Boottime) {
        guard case .waiting(let due) = activity, announcedFailure?.retryAfter == nil else { return }
        activity = .waiting(until: min(due, moment))
    }

    /// Is asked by another object, which has nothing under way and watches by itself.
    private mutating func beginAnew(at now: Now) {
        watchProblem = nil
        if case .fetching = activity { activity = .waiting(until: now.boot) }
        hasten(to: now.boot)
    }

    /// Keeps the flags alone: how the other address behaved says nothing about this one.
    private mutating func inherit(_ plan: SourcePlan, at now: Now) {
        let known = answers
        let confirmed = confirmation.earlier(at: now)
        self = SourceState(plan: plan, at: now)
        answers = known
        for index in answers.indices { answers[index].answer.inherit() }
        confirmation = confirmed
    }
}

extension SwitchState {
    /// When the source last said or confirmed what it rests on; nil where not since the start.
    fileprivate var answeredAt: Boottime? {
        if case .now(let moment) = confirmation { moment } else { nil }
    }

    /// Rests on flags of another address from now on: unanswered, as after a start. Only a switch that
    /// has none waits.
    fileprivate mutating func inherit(at now: Now) {
        confirmation = confirmation.earlier(at: now)
        isAnswered = false
        problem = nil
        unconfirmed = nil
        highestVersion = nil
        if reading == nil { awaitedSince = now.boot }
    }
}

extension ServiceState {
    /// The installed version: another file says so itself later.
    fileprivate func installed(under plan: InstalledVersion?) -> Version? {
        switch plan {
        case .version(let version): version
        case .file: plan == service.installed ? installed : nil
        case nil: nil
        }
    }

    /// What is known of a switch under another plan: all of it where it is the same switch. A date
    /// without an offset is another one in another zone, and with other defaults of the source the
    /// answers are to be read anew.
    ///
    /// Where values wait for the next start, another switch reads the answer that is in force, for a
    /// reload is no start.
    fileprivate func continued(
        _ plan: Switch, of next: Service, on source: SourceState, isReadAnew: Bool, at now: Now
    ) -> SwitchState {
        let known = service.switches.firstIndex(of: plan).map { switches[$0] }
        if next.zone == service.zone, !isReadAnew, let known { return known }
        var state = SwitchState(awaitedSince: now.boot)
        let inForce = next.activation == .nextStart ? oldestAnswer(of: source) ?? 0 : 0
        state.adopt(
            source.answers[inForce...], confirmed: source.confirmation, by: plan, in: next.zone)
        guard state.reading != nil else { return state }
        // What it rests on is as old as it was: it need not be waited for again.
        if let known { state.awaitedSince = known.awaitedSince }
        if inForce > 0 { state.staged = source.answers.first?.number }
        return state
    }

    /// The position of the oldest answer of a source that a switch rests on.
    private func oldestAnswer(of source: SourceState) -> Int? {
        let numbers = zip(service.switches, switches)
            .filter { $0.0.source == source.name }.compactMap(\.1.answer)
        return source.answers.lastIndex { numbers.contains($0.number) }
    }
}
