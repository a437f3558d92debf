/// The outcomes of the writes that the machine asked for, and what is written again.
extension Machine {
    /// Notes the outcome of a write. A failed write is retried.
    mutating func writeEnded(_ operation: WriteOperation, _ problem: String?) {
        guard let problem else { return pendingWrites.succeed(operation) }
        var others: [WriteOperation] = []
        if case .markConfirmed = operation {
            // The runtime directory may be gone: write the files of every service again.
            others = services.filter { $0.record != nil }.map { .publish($0.service.name) }
        }
        pendingWrites.fail(operation, problem, alsoRetry: others, at: now)
    }

    /// Why something could not be written; nil if it was.
    package func problem(of write: WriteOperation) -> String? { pendingWrites.problem(of: write) }

    /// Reserves the space of the highest versions of signed documents.
    mutating func reserveVersions() {
        for source in plan.sources where source.audience != nil {
            batch.add(.reserveVersion(source.name))
        }
    }

    /// Writes the files of a service as they were.
    mutating func republish(_ name: ServiceName) {
        guard let service = index.service(name), let record = services[service].record else {
            return
        }
        publish(record, of: service)
    }

    /// Has the files of a service written.
    mutating func publish(_ record: PublishedVerdict, of service: Int) {
        batch.publish(record, of: services[service].service)
        overviewRevision.publications += 1
    }

    /// Has the files of a service removed.
    mutating func withdraw(_ name: ServiceName) {
        batch.add(.withdraw(name))
        overviewRevision.publications += 1
    }

    /// Whether the highest version of a source's signed documents is stored.
    package func hasAcceptedVersion(of name: SourceName) -> Bool {
        index.source(name).map { sources[$0].documents.highest != nil } ?? false
    }

    /// Stores everything as it was.
    mutating func storeAgain() {
        for source in sources.indices { storeAgain(source) }
        reserveVersions()
        batch.areOverridesChanged = true
        batch.isLedgerChanged = true
    }

    /// Stores the answers of a source and the highest version of its documents.
    private mutating func storeAgain(_ source: Int) {
        if !host.unreadable.contains(.flags(sources[source].name)) { store(source) }
        guard let version = sources[source].documents.stored else { return }
        batch.add(.storeVersion(sources[source].name, version))
    }

    /// Stores the orders and the ledger, if they could not be stored last: for a daemon that stops before the retry.
    package var lastAttempt: [Effect] {
        var effects: [Effect] = []
        if problem(of: .storeOverrides) != nil { effects.append(.storeOverrides(host.overrides)) }
        if problem(of: .storeLedger) != nil { effects.append(.storeLedger(ledger)) }
        return effects
    }

    /// Adds the effects that retry the pending writes that are due.
    mutating func retryWrites() {
        for operation in pendingWrites.due(at: now) {
            switch operation {
            case .storeFlags(let name): if let source = index.source(name) { storeAgain(source) }
            case .storeVersion: break
            case .dropVersion(let name):
                // A version that was accepted meanwhile has replaced the file.
                let isGone = index.source(name).map { sources[$0].documents.highest == nil } ?? true
                if isGone {
                    batch.add(.dropVersion(name))
                } else {
                    pendingWrites.succeed(operation)
                }
            case .reserveVersion(let name): batch.add(.reserveVersion(name))
            case .markConfirmed(let name):
                batch.add(index.source(name) == nil ? .stopSource(name) : .markConfirmed(name))
            case .storeLedger: batch.isLedgerChanged = true
            case .storeOverrides: batch.areOverridesChanged = true
            case .publish(let name):
                if index.service(name) == nil { withdraw(name) } else { republish(name) }
            }
        }
    }
}
