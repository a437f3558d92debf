import CivilTime

/// The orders of operators.
extension Machine {
    /// Puts an operator's override in force. It is on disk before the machine acts on it. With `ifOpen`
    /// the order is rejected unless the gate is open without an override or a held closing;
    /// services that are due are decided first, so that the order meets the present state.
    mutating func force(_ override: Override, on name: ServiceName, ifOpen: Bool) {
        if ifOpen {
            expireOverrides()
            decideDue()
        }
        guard index.service(name) != nil else {
            batch.add(.reject(name, override, .notConfigured))
            return
        }
        guard host.overrides[name] != override else { return }
        if ifOpen, let objection = objection(to: name) {
            batch.add(.reject(name, override, objection))
            return
        }
        replace(overrideOf: name, with: override)
        setAsideForOrder()
        batch.messages.append(.overridden(name, override))
    }

    /// Why an `ifOpen` order would be rejected; nil if it would not.
    private func objection(to name: ServiceName) -> OrderObjection? {
        if let override = host.overrides[name] { return .overridden(override) }
        let verdict = publishedVerdict(of: name)?.verdict
        guard verdict?.gate == .open else { return .notOpen(verdict?.state ?? .undecided) }
        return hostGuard.isHeld(name) ? .held : nil
    }

    /// Ends the override of a service. With `cause`, an override with another cause stays.
    mutating func release(_ name: ServiceName, by author: String, only cause: String?) {
        setAsideForOrder()
        guard let override = host.overrides[name], cause.map(override.isGiven(for:)) ?? true else {
            return
        }
        replace(overrideOf: name, with: nil)
        batch.messages.append(.released(name, override, by: author))
    }

    /// Drops the overrides that have expired, and are not held.
    mutating func expireOverrides() {
        guard !host.overrides.isEmpty else { return }
        let expired = host.overrides.filter { name, override in
            guard override.hasEnded(at: now.wall) else { return false }
            guard let service = index.service(name) else {
                let wait = Policy().firstTimeout
                return host.trust.expiresOrders(thatClose: true, wait: wait, at: now)
            }
            return !services[service].holds(override, on: host)
        }
        for (name, override) in expired.sorted(by: { $0.key < $1.key }) {
            replace(overrideOf: name, with: nil)
            batch.messages.append(.overrideExpired(name, override))
        }
    }

    private mutating func replace(overrideOf name: ServiceName, with override: Override?) {
        host.overrides[name] = override
        batch.areOverridesChanged = true
        if let service = index.service(name) { services[service].markDue() }
    }

    /// Confirms the held closings of services, and lets their held steps come.
    mutating func confirmClosings(of names: [ServiceName], by author: String) {
        let held = hostGuard.confirmClosings(of: names)
        let steps = stepGuards?.confirm(names) ?? []
        if !held.isEmpty { setAsideForOrder() }
        for service in (held + steps).compactMap(index.service) { services[service].markDue() }
        if !held.isEmpty { batch.messages.append(.closingConfirmed(held.sorted(), by: author)) }
        if !steps.isEmpty { batch.messages.append(.stepConfirmed(steps.sorted(), by: author)) }
    }

    /// A drill has ended. It is kept in the ledger.
    mutating func drillEnded(_ drill: DrillResult, of name: ServiceName, by author: String) {
        guard let service = index.service(name), services[service].entry != nil else { return }
        services[service].drillEnded(drill)
        ledger.entries[name] = services[service].entry
        batch.isLedgerChanged = true
        batch.messages.append(.drilled(name, drill, by: author))
        overviewRevision.drills += 1
    }

    /// Puts staged flags in force: those of one service, or of all.
    mutating func activate(_ name: ServiceName?) {
        for source in sources.indices {
            var answers = sources[source].answers.map { AnswerReader($0) }
            for reader in index.switches[source]
            where name == nil || services[reader.service].service.name == name {
                services[reader.service].activate(
                    from: sources[source], &answers, at: reader.position)
            }
            updateProof(of: source)
            dropUnused(of: source)
        }
    }

    /// Drops every answer of a source, its stored flags and the highest version in them, and fetches
    /// it again. With a cause, the highest version of its signed documents is dropped too. As after a
    /// reload, its services keep their verdicts until it has answered, at most for `first_timeout`.
    mutating func forget(_ name: SourceName, by author: String, versionCause: String?) {
        guard let source = index.source(name) else { return }
        sources[source].forget(isVersionDropped: versionCause != nil, at: now)
        overviewRevision.answers += 1
        host.trust.resetFloor(to: sources.flatMap(\.answers).map(\.answer.fetchedAt))
        issueChanged(of: source)
        // Each waits for the source as at a start.
        let fresh = SwitchState(awaitedSince: now.boot)
        for reader in index.switches[source] {
            services[reader.service].change(switchAt: reader.position) { $0 = fresh }
        }
        setAside(.flags(name))
        batch.add(.storeFlags(name, []))
        if versionCause != nil { batch.add(.dropVersion(name)) }
        batch.add(.forget(name))
        batch.messages.append(.forgotten(name, by: author, versionCause: versionCause))
        sources[source].requestFetch(at: now)
    }
}
