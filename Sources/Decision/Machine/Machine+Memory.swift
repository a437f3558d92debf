import CivilTime

/// What earlier runs have stored, where some of it cannot be read. It decides nothing anew: what may be ordered closed
/// stays closed, and what may be held open stays open, until the file can be read or an operator gives an order.
extension Memory {
    /// The entries of the services: where the ledger cannot be read, what their files of this boot say.
    var restoredLedger: Ledger {
        switch ledger {
        case .known(let ledger): ledger
        case .none: Ledger()
        case .unreadable: Ledger(entries: published)
        }
    }

    /// The orders in force. Where they cannot be read, the ledger knows their states and ends. Where nothing knows
    /// them, each service is kept closed that was not open in this boot.
    func restoredOverrides(of services: [Service], at now: Now) -> [ServiceName: Override] {
        if case .known(let overrides) = overrides { return overrides }
        var orders: [ServiceName: Override] = [:]
        if case .known(let ledger) = ledger, ledger.hasOrders {
            for (name, entry) in ledger.entries {
                guard let order = entry.order else { continue }
                orders[name] = Override(
                    state: entry.state, cause: "the words of this order cannot be read",
                    author: "unknown", since: entry.since, until: order.until)
            }
            return orders
        }
        if case .none = overrides { return [:] }
        for service in services {
            let known = published[service.name]?.state ?? .maintenance
            let gate = service.policy.gate(of: known)
            if gate == .open { continue }
            orders[service.name] = Override(
                state: gate == .closed ? known : .maintenance,
                cause: "nobody can read whether an order keeps it closed", author: "killswitchd",
                since: now.wall, until: nil)
        }
        return orders
    }
}

extension Machine {
    /// Keeps the services open whose marker says open though their stored flags close them: an order or the host guard
    /// has held them open, and the file that says so cannot be read.
    mutating func keepOpen(as memory: Memory) {
        guard memory.ledger.problem != nil,
            plan.guardLimits.count != nil || memory.overrides.problem != nil
        else { return }
        for service in services.indices {
            let name = services[service].service.name
            guard let known = memory.published[name], host.overrides[name] == nil,
                services[service].service.policy.gate(of: known.state) == .open
            else { continue }
            let verdict =
                services[service]
                .candidate(at: service, confirmations(of: service), on: host).unforced
            guard verdict.gate == .closed else { continue }
            switch verdict.reason {
            // What time alone closes may have come since.
            case .endPassed, .window: continue
            default: hostGuard.keepOpen(name)
            }
        }
    }

    /// Files that could not be read were read again. One that an order has set aside meanwhile says nothing any more.
    mutating func memoryRead(_ memory: Memory) {
        host.unreadable.update(from: memory, at: now)
        var isRecovered = false
        for record in host.unreadable.records(readIn: memory) {
            switch record {
            case .ledger:
                ledgerRead(memory.ledger.value)
                if memory.overrides.problem != nil, host.unreadable.contains(.overrides),
                    memory.ledger.value?.hasOrders == true
                {
                    host.overrides = memory.restoredOverrides(of: plan.services, at: now)
                }
            case .overrides:
                if let overrides = memory.overrides.value {
                    host.overrides = overrides
                } else {
                    batch.areOverridesChanged = true
                }
            case .flags(let name):
                guard let source = index.source(name), let stored = memory.flags[name],
                    sources[source].answers.isEmpty, !stored.answers.isEmpty
                else { continue }
                restore(stored, of: source)
            }
            host.unreadable.remove(record)
            isRecovered = true
        }
        guard isRecovered else { return }
        markAllDue()
    }

    /// The ledger could be read, or is gone: what was decided since goes on from there.
    private mutating func ledgerRead(_ stored: Ledger?) {
        for (name, entry) in stored?.entries ?? [:] {
            guard let service = index.service(name) else {
                ledger.entries[name] = ledger.entries[name] ?? entry
                continue
            }
            services[service].adopt(entry)
            ledger.entries[name] = services[service].entry
            if entry.isHeld { hostGuard.restore(name, from: entry, bootID: host.bootID) }
        }
        batch.isLedgerChanged = true
    }

    /// Stored flags of a source that has none yet take force.
    mutating func restore(_ stored: Memory.StoredFlags, of source: Int) {
        for answer in stored.answers { host.trust.raiseFloor(to: answer.fetchedAt) }
        sources[source].restore(stored)
        issueChanged(of: source)
        offerKnownAnswers(of: source)
    }

    /// The stored flags of a new source may be unreadable.
    mutating func keepUnreadable(_ stored: Memory.StoredFlags, of source: SourceName) {
        guard stored.problem != nil else { return }
        host.unreadable.update(from: Memory(flags: [source: stored]), at: now)
    }

    /// An operator has given an order, which always takes force: what cannot be read is set aside, and what is known
    /// is stored in its place.
    mutating func setAsideForOrder() {
        for record in [StoredRecord.overrides, .ledger] where host.unreadable.contains(record) {
            setAside(record)
        }
    }

    /// Has a file set aside before it is written.
    mutating func setAside(_ record: StoredRecord) {
        guard host.unreadable.contains(record) else { return }
        host.unreadable.remove(record)
        batch.add(.setAside(record))
        switch record {
        case .ledger: batch.isLedgerChanged = true
        case .overrides: batch.areOverridesChanged = true
        case .flags: break
        }
    }

    /// Has files read again whose time has come, and keeps others from being written over.
    mutating func protectUnreadable() {
        if host.unreadable.isEmpty { return }
        let due = host.unreadable.due(at: now)
        if !due.isEmpty { batch.add(.readAgain(due)) }
        if host.unreadable.contains(.overrides) { batch.areOverridesChanged = false }
        if host.unreadable.contains(.ledger) { batch.isLedgerChanged = false }
    }
}
