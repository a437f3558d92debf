import CivilTime

extension Machine {
    /// Goes on with another plan. What stays as it was keeps what it knows; what is new begins now;
    /// the files of what is gone go. No service changes by that alone.
    mutating func reconfigure(_ plan: Plan, at now: Now, _ batch: inout Batch) {
        let gone = services.map(\.service.name).filter { name in
            !plan.services.contains { $0.name == name }
        }
        batch.departures += gone.map(Effect.withdraw)
        let dropped = sources.map(\.name).filter { name in
            !plan.sources.contains { $0.name == name }
        }
        batch.departures += dropped.map(Effect.drop)
        arrears.deeds.removeAll { deed in
            switch deed {
            case .store(let name), .confirm(let name): dropped.contains(name)
            case .publish(let name): gone.contains(name)
            case .remember: false
            }
        }
        let before = sources
        sources = plan.sources.map { Self.continued($0, from: before, at: now) }
        services = plan.services.map { continued($0, at: now) }
    }

    private static func continued(
        _ plan: SourcePlan, from before: [SourceState], at now: Now
    ) -> SourceState {
        guard
            var state = before.first(where: { $0.name == plan.name && $0.address == plan.address })
        else { return SourceState(plan: plan, at: now) }
        state.timeout = plan.timeout
        state.schedule.interval = plan.interval
        if case .waiting(let moment) = state.activity {
            state.activity = .waiting(until: min(moment, now.boot + plan.interval))
        }
        return state
    }

    private func continued(_ service: Service, at now: Now) -> ServiceState {
        guard let before = services.first(where: { $0.service.name == service.name }) else {
            return ServiceState(
                service: service, entry: ledger.entries[service.name], bootID, at: now)
        }
        let switches = service.switches.map { before.continued($0, among: sources) }
        // A switch that was never heard is waited for as at a start.
        let isWaiting = switches.contains { $0.reading == nil }
        var state = ServiceState(
            service: service, switches: switches,
            startedAt: isWaiting ? now.boot : before.startedAt, isSameBoot: true)
        state.firstAnswerAt = before.firstAnswerAt
        state.record = before.record
        state.closedAt = before.closedAt
        state.knownPast = before.knownPast
        return state
    }
}

extension ServiceState {
    /// What is known of a switch that an earlier plan had too.
    fileprivate func continued(_ plan: Switch, among sources: [SourceState]) -> SwitchState {
        guard let index = service.switches.firstIndex(of: plan)
        else { return SwitchState() }
        let state = switches[index]
        // The answers of a source that asks something else now are another's.
        let isKnown = sources.first { $0.name == plan.source }?.answers
            .contains { $0.number == state.answer }
        return isKnown == true ? state : SwitchState()
    }
}
