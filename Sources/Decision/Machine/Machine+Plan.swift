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
        sources = plan.sources.map { plan in
            before.wiring.source(plan.name).flatMap { before.sources[$0].continued(plan, at: now) }
                ?? SourceState(plan: plan, at: now)
        }
        services = plan.services.map { service in
            guard let index = before.wiring.service(service.name) else {
                return ServiceState(
                    service: service, entry: ledger.entries[service.name], bootID, at: now)
            }
            return continued(before.services[index], as: service)
        }
        for index in sources.indices { serveNewcomers(of: index, at: now) }
        for service in before.services where wiring.service(service.service.name) == nil {
            batch.departures.append(.withdraw(service.service.name))
        }
        for source in before.sources where wiring.source(source.name) == nil {
            batch.departures.append(.drop(source.name))
        }
        arrears.deeds.removeAll { before.wiring.loses($0, in: wiring) }
    }

    private func continued(_ before: ServiceState, as service: Service) -> ServiceState {
        let switches = service.switches.map { plan in
            let answers = wiring.source(plan.source).map { sources[$0].answers } ?? []
            return before.continued(plan, in: service.zone, among: answers)
        }
        var state = ServiceState(
            service: service, switches: switches, startedAt: before.startedAt, isSameBoot: true)
        state.firstAnswerAt = before.firstAnswerAt
        state.record = before.record
        state.closedAt = before.closedAt
        state.hold = before.hold
        state.knownPast = before.knownPast
        state.installed = before.installed(under: service.installed)
        state.remote = service.remote.map { HeldValue(value: $0.fallback) }
        return state
    }

    /// Gives switches without a reading what is known of their source. One that cannot read it is
    /// waited for as at a start.
    private mutating func serveNewcomers(of index: Int, at now: Now) {
        var isAskedAtOnce = false
        for user in wiring.users(of: index) {
            guard services[user.service].switches[user.position].reading == nil else {
                adoptValues(of: user, from: sources[index].answers)
                continue
            }
            adopt(sources[index].answers, confirmed: sources[index].confirmation, by: user)
            guard services[user.service].switches[user.position].reading == nil else { continue }
            services[user.service].startedAt = now.boot
            isAskedAtOnce = true
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

    /// What is known of a switch that an earlier plan had too. The answers of a source that asks
    /// something else now are another's, and a date without an offset is another one in another zone.
    fileprivate func continued(
        _ plan: Switch, in zone: Zone, among answers: [NumberedAnswer]
    ) -> SwitchState {
        guard zone == service.zone, let position = service.switches.firstIndex(of: plan),
            answers.contains(where: { $0.number == switches[position].answer })
        else { return SwitchState() }
        return switches[position]
    }
}
