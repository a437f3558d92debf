import CivilTime

extension Machine {
    /// Goes on with another plan. A reload alone moves no gate; the flags may, under the new configuration.
    ///
    /// Unchanged switches keep their flags. A new switch starts with the known answers of its source; if it can read
    /// none, the source is fetched at once. A service that waits for a new switch keeps its verdict, at most for
    /// `first_timeout`. The files of services that are gone are removed.
    ///
    /// A source keeps its identity with its name, as at a start: the flags of an earlier address stay in force until
    /// the new address gives flags, and a source that is configured again starts with its stored flags. A source that
    /// another object fetches has no fetch in flight, and is fetched at once.
    mutating func reconfigure(
        _ plan: Plan, _ replaced: [SourceName: Replacement],
        _ remembered: [SourceName: Memory.StoredFlags]
    ) {
        let before = (sources: sources, services: services, index: index)
        self.plan = plan
        host.place = host.place.within(plan.slots)
        let index = PlanIndex(plan)
        self.index = index
        hostGuard.reconfigure(limits: plan.guardLimits) { index.service($0) != nil }
        stepGuards = StepGuards(stepGuards, plan)
        var changes: [SourceName: SourceChange] = [:]
        sources = plan.knownSources.map { plan in
            guard let known = before.index.source(plan.name) else {
                return SourceState(plan: plan, at: now)
            }
            let change = before.sources[known].reconfigured(plan, replaced[plan.name], at: now)
            changes[plan.name] = change
            return change.source
        }
        services = ServiceStates(
            plan.services.map { service in
                guard let known = before.index.service(service.name) else {
                    return makeState(of: service)
                }
                return ServiceState(before.services[known], as: service, &changes, at: now)
            })
        host.trust.reconfigure(for: plan.sources)
        reassessClock()
        for source in sources.indices {
            if let stored = remembered[sources[source].name], sources[source].answers.isEmpty {
                restore(stored, of: source)
                keepUnreadable(stored, of: sources[source].name)
            } else {
                issueChanged(of: source)
                offerKnownAnswers(of: source)
            }
            // Since the reload other switches may rest on them.
            if updateSwitches(of: source) { store(source) }
        }
        for service in plan.services
        where service.activation == .immediate && isStaged(service.name) {
            activate(service.name)
        }
        for name in before.services.map(\.service.name) where index.service(name) == nil {
            withdraw(name)
        }
        for name in before.sources.map(\.name) where index.source(name) == nil {
            batch.add(.stopSource(name))
        }
        pendingWrites.drop { before.index.loses($0, in: index) }
    }

    /// A service that was not configured before, with its entry in the ledger.
    mutating func makeState(of service: Service) -> ServiceState {
        let entry = ledger.entries[service.name]
        hostGuard.restore(service.name, from: entry, bootID: host.bootID)
        return ServiceState(
            service: service, entry: entry, isForced: host.overrides[service.name] != nil,
            bootID: host.bootID, at: now)
    }
}
