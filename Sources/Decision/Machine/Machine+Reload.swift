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
    /// A source that is asked by another object has no fetch in flight any more, and is asked at once.
    mutating func reconfigure(
        _ plan: Plan, _ replaced: [SourceName: Replacement],
        _ remembered: [SourceName: Memory.Kept], at now: Now, _ batch: inout EffectBatch
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

    /// A service that was not configured before, with what the ledger says of it.
    mutating func begin(_ service: Service, at now: Now) -> ServiceState {
        let entry = ledger.entries[service.name]
        hostGuard.restore(service.name, from: entry)
        return ServiceState(
            service: service, entry: entry, isForced: overrides[service.name] != nil,
            bootID: bootID, at: now)
    }

    /// Goes on with the sources of a plan. Gives what that changes of those that stay.
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

    /// Gives the readers of a source what is known of it. One that is new and cannot read that is
    /// waited for as at a start.
    private mutating func serveReaders(of source: Int, at now: Now) {
        var isAskedAtOnce = false
        for reader in sources[source].readers {
            let isWaiting = services[reader.service].serve(
                sources[source].answers, confirmed: sources[source].confirmation,
                at: reader.position, now)
            if isWaiting { isAskedAtOnce = true }
        }
        dropUnused(of: source)
        if isAskedAtOnce { sources[source].hint(at: now) }
    }
}
