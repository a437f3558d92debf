import CivilTime

extension Machine {
    /// Goes on with another plan.
    ///
    /// What stays as it was keeps what it knows; what is new begins with what is known of its source,
    /// and where that is not enough, its source is asked at once; the files of what is gone go. A
    /// service that waits for a new switch keeps its verdict, at most `first_timeout`. So a reload
    /// alone moves no gate: what the flags say under the new configuration may.
    mutating func reconfigure(_ plan: Plan, at now: Now, _ batch: inout Batch) {
        let before = (sources: sources, services: services, wiring: wiring)
        wiring = Wiring(plan)
        closeAtOnce = plan.closeAtOnce
        var lasting: Set<SourceName> = []
        sources = plan.sources.map { plan in
            let known = before.wiring.source(plan.name).map { before.sources[$0] }
            guard let same = known?.continued(plan, at: now) else {
                return SourceState(plan: plan, at: now)
            }
            lasting.insert(plan.name)
            return same
        }
        services = plan.services.map { service in
            guard let index = before.wiring.service(service.name) else {
                return ServiceState(
                    service: service, entry: ledger.entries[service.name],
                    isForced: overrides[service.name] != nil, bootID, at: now)
            }
            return continued(before.services[index], as: service, lasting, at: now)
        }
        for index in sources.indices { serveNewcomers(of: index, at: now) }
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

    private func continued(
        _ before: ServiceState, as service: Service, _ lasting: Set<SourceName>, at now: Now
    ) -> ServiceState {
        let switches = service.switches.map { plan in
            guard lasting.contains(plan.source), let index = wiring.source(plan.source) else {
                return SwitchState(awaitedSince: now.boot)
            }
            return before.continued(plan, of: service, on: sources[index], at: now)
        }
        let isDecided = before.record.map { $0.verdict.state != .undecided } ?? false
        var state = ServiceState(
            service: service, switches: switches, isSameBoot: before.isSameBoot || isDecided)
        state.firstAnswerAt = before.firstAnswerAt
        state.record = before.record
        state.closedAt = before.closedAt
        state.hold = before.hold
        state.wanted = before.wanted
        state.lastOpen = before.lastOpen
        state.hasNews = service != before.service
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
    /// The same source under another plan; nil where it asks something else now.
    fileprivate func continued(_ plan: SourcePlan, at now: Now) -> SourceState? {
        guard address == plan.address, defaults == plan.defaults else { return nil }
        var state = self
        state.timeout = plan.timeout
        state.schedule.interval = plan.interval
        if case .waiting(let moment) = activity {
            state.activity = .waiting(until: min(moment, now.boot + plan.interval))
        }
        return state
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
    /// without an offset is another one in another zone.
    ///
    /// Where values wait for the next start, another switch reads the answer that is in force, for a
    /// reload is no start.
    fileprivate func continued(
        _ plan: Switch, of next: Service, on source: SourceState, at now: Now
    ) -> SwitchState {
        if next.zone == service.zone, let position = service.switches.firstIndex(of: plan) {
            return switches[position]
        }
        var state = SwitchState(awaitedSince: now.boot)
        guard next.activation == .nextStart,
            let inForce = oldestAnswer(of: source), inForce > 0
        else { return state }
        state.adopt(
            source.answers[inForce...], confirmed: source.confirmation, by: plan, in: next.zone)
        if state.reading != nil { state.staged = source.answers.first?.number }
        return state
    }

    /// The position of the oldest answer of a source that a switch rests on.
    private func oldestAnswer(of source: SourceState) -> Int? {
        let numbers = zip(service.switches, switches)
            .filter { $0.0.source == source.name }.compactMap(\.1.answer)
        return source.answers.lastIndex { numbers.contains($0.number) }
    }
}
