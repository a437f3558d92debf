import CivilTime

extension Machine {
    /// Goes on with another plan.
    ///
    /// Unchanged switches keep their flags. A new switch starts with the known answers of its
    /// source; if it can read none, the source is fetched at once. The files of services that are
    /// gone are removed. A service that waits for a new switch keeps its verdict, at most for
    /// `first_timeout`. So a reload alone moves no gate; the flags may, under the new
    /// configuration.
    ///
    /// A source keeps its identity with its name, as at a start. The flags of an earlier address
    /// stay in force until the new address gives flags. A source that is configured again starts
    /// with its stored flags. A source that another object fetches has no fetch in flight, and is
    /// fetched at once.
    mutating func reconfigure(
        _ plan: Plan, _ replaced: [SourceName: Replacement],
        _ remembered: [SourceName: Memory.StoredFlags], at now: Now, _ batch: inout EffectBatch
    ) {
        let before = (sources: sources, services: services, index: index)
        self.plan = plan
        let index = PlanIndex(plan)
        self.index = index
        hostGuard.reconfigure(limit: plan.closeAtOnce) { index.service($0) != nil }
        let changes = continueSources(of: plan, replaced, at: now)
        services = plan.services.map { service in
            guard let known = before.index.service(service.name) else {
                return begin(service, at: now)
            }
            return ServiceState(before.services[known], as: service, changes, at: now)
        }
        for source in sources.indices {
            if let stored = remembered[sources[source].name], sources[source].answers.isEmpty {
                for answer in stored.answers { trust.raiseFloor(to: answer.fetchedAt) }
                restore(stored, to: source)
            }
            serveReaders(of: source, at: now)
        }
        for service in plan.services
        where service.activation == .immediate && isStaged(service.name) {
            activate(service.name, &batch)
        }
        for name in before.services.map(\.service.name) where index.service(name) == nil {
            batch.departures.append(.withdraw(name))
        }
        for name in before.sources.map(\.name) where index.source(name) == nil {
            batch.departures.append(.unfollow(name))
        }
        pendingWrites.drop { before.index.loses($0, in: index) }
    }

    /// A service that was not configured before, with its entry in the ledger.
    mutating func begin(_ service: Service, at now: Now) -> ServiceState {
        let entry = ledger.entries[service.name]
        hostGuard.restore(service.name, from: entry)
        return ServiceState(
            service: service, entry: entry, isForced: overrides[service.name] != nil,
            bootID: bootID, at: now)
    }

    /// Replaces the sources by those of a plan. Returns the changes of sources that stay.
    private mutating func continueSources(
        of plan: Plan, _ replaced: [SourceName: Replacement], at now: Now
    ) -> [SourceName: SourceChange] {
        let before = Dictionary(
            sources.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let readers = plan.readers
        var changes: [SourceName: SourceChange] = [:]
        sources = plan.sources.map { plan in
            let readers = readers[plan.name] ?? []
            guard let known = before[plan.name] else {
                return SourceState(plan: plan, readers: readers, at: now)
            }
            let (state, change) = known.continued(
                plan, readers: readers, replaced[plan.name], at: now)
            changes[plan.name] = change
            return state
        }
        return changes
    }

    /// Gives the known answers of a source to its switches. If a new switch can read none of them,
    /// the source is fetched at once.
    private mutating func serveReaders(of source: Int, at now: Now) {
        var mustFetch = false
        for reader in sources[source].readers {
            let isWaiting = services[reader.service].serve(
                sources[source].answers, confirmed: sources[source].confirmation,
                at: reader.position, now)
            if isWaiting { mustFetch = true }
        }
        dropUnused(of: source)
        if mustFetch { sources[source].hint(at: now) }
    }
}
