import CivilTime

/// The way of an answer: from its source down to the switches that read it, and up again as effects
/// that store and announce it.
extension Machine {
    /// Takes in the outcome of a fetch. Returns the source if it has answered.
    mutating func receive(_ outcome: Outcome, from source: Int) -> Int? {
        var result = FetchCounts.Result.unchanged
        switch outcome {
        case .answer(let answer):
            if sources[source].repeats(answer) {
                disinherit(answer, of: source)
                confirm(source)
            } else {
                result = offer(answer, of: source) ? .changed : .invalid
            }
        case .unchanged where !sources[source].answers.isEmpty: confirm(source)
        case .unchanged:
            fail(source, Failure(.invalid, "the answer says 'unchanged', but nothing is known yet"))
            return nil
        case .failure(let failure):
            fail(source, failure)
            return nil
        }
        batch.notices += sources[source].succeed(result)
        return source
    }

    /// Offers a new answer to every switch of its source. A switch that accepts it rests on it from
    /// now on; the others keep their earlier answer, which stays stored as long as they need it. False if no
    /// switch accepts it.
    private mutating func offer(_ answer: Answer, of source: Int) -> Bool {
        let known = sources[source].answers.first
        let answer = sources[source].number(answer)
        let changes = known.flatMap { FlagChanges(from: $0, to: answer) }
        var isKept = false
        for reader in index.readers[source] {
            if let changes, services[reader.service].follow(changes, at: reader.position, now) {
                isKept = true
            } else if offer(answer, to: reader, changes) {
                isKept = true
            }
        }
        guard isKept else { return false }
        noteVersionJumps(of: source)
        batch.notices += sources[source].keep(answer, at: now)
        dropUnused(of: source)
        batch.add(.markConfirmed(sources[source].name))
        store(source)
        host.trust.raiseFloor(to: answer.answer.fetchedAt, at: now)
        return true
    }

    /// Offers an answer to one switch. True if it has to be stored.
    private mutating func offer(
        _ answer: NumberedAnswer, to reader: SwitchPosition, _ changes: FlagChanges? = nil
    ) -> Bool {
        let override = overrides[services[reader.service].service.name]
        return services[reader.service].offer(
            answer, to: reader.position, changes, override, on: host, &batch.notices)
    }

    /// Takes in that a source has confirmed its newest answer. A switch that could not read this
    /// answer reads it again.
    private mutating func confirm(_ source: Int) {
        let newest = sources[source].answers[0].number
        var isTaken = false
        for reader in index.readers[source] {
            if services[reader.service].confirm(newest, at: reader.position, now) { continue }
            if offer(sources[source].answers[0], to: reader) { isTaken = true }
        }
        sources[source].confirm(at: now)
        batch.add(.markConfirmed(sources[source].name))
        guard isTaken else { return }
        noteVersionJumps(of: source)
        dropUnused(of: source)
        store(source)
    }

    /// Makes an inherited newest answer the source's own, because the present address gives the
    /// same. Stores it, so that a restart knows this too.
    private mutating func disinherit(_ answer: Answer, of source: Int) {
        guard let own = sources[source].disinherit(answer) else { return }
        for reader in index.readers[source] {
            services[reader.service].acceptAsOwn(own, at: reader.position)
        }
        noteVersionJumps(of: source)
        store(source)
    }

    /// Gives the known answers of a source to its switches: each rests on the newest answer that it
    /// can read. If a new switch can read none of them, the source is fetched at once.
    mutating func serveReaders(of source: Int) {
        var mustFetch = false
        for reader in index.readers[source] {
            let isWaiting = services[reader.service].serve(
                sources[source], at: reader.position, now)
            if isWaiting { mustFetch = true }
        }
        noteVersionJumps(of: source)
        dropUnused(of: source)
        if mustFetch { sources[source].hint(at: now) }
    }

    /// The validators for the next request: none while a switch cannot read the newest answer, so
    /// that the answer is fetched and read again.
    func validators(of source: Int) -> Validators {
        guard let newest = sources[source].answers.first else { return Validators() }
        let isReadByAll = index.readers[source].allSatisfy {
            services[$0.service].hasRead(newest.number, at: $0.position)
        }
        return isReadByAll ? newest.answer.validators : Validators()
    }

    /// Drops the answers of a source on which no switch and no value rests any more.
    mutating func dropUnused(of source: Int) {
        guard sources[source].answers.count > 1 else { return }
        var used: Set<Int> = []
        for reader in index.readers[source] {
            services.ask(reader.service) { $0.addAnswers(at: reader.position, to: &used) }
        }
        sources[source].dropAnswers(except: used)
    }

    /// Tells which versions in the flags of a source have jumped.
    private mutating func noteVersionJumps(of source: Int) {
        let jumps = index.readers[source].compactMap { reader in
            services.ask(reader.service) { $0.versionJump(at: reader.position) }
        }
        if jumps.isEmpty, sources[source].problems.isEmpty { return }
        let time = now.wall
        batch.notices += sources[source].note { $0.note(versionJumps: Set(jumps), at: time) }
    }

    /// Adds the effect that stores the answers of a source.
    private mutating func store(_ source: Int) {
        batch.add(.storeFlags(sources[source].name, sources[source].answers.map(\.answer)))
    }

    // MARK: - Writes

    /// Notes the outcome of a write. A failed write is retried.
    mutating func note(_ operation: WriteOperation, _ problem: String?) {
        guard let problem else {
            if pendingWrites.succeed(operation) { batch.notices.append(.recordsRecovered) }
            return
        }
        var others: [WriteOperation] = []
        if case .markConfirmed = operation {
            // The runtime directory may be gone: write the files of every service again.
            others = services.filter { $0.record != nil }.map { .publish($0.service.name) }
        }
        if pendingWrites.fail(operation, problem, alsoRetry: others, at: now) {
            batch.notices.append(.recordFailed(operation, problem: problem))
        }
    }

    /// Writes the files of a service as they were.
    mutating func publishAgain(_ name: ServiceName) {
        guard let service = index.service(name), let record = services[service].record else {
            return
        }
        batch.add(.publish(services[service].service, record))
    }

    /// Adds the effects that retry the pending writes that are due.
    mutating func retryWrites() {
        for operation in pendingWrites.due(at: now) {
            switch operation {
            case .storeFlags(let name):
                if let source = index.source(name) { store(source) }
            case .markConfirmed(let name):
                batch.add(index.source(name) == nil ? .unfollow(name) : .markConfirmed(name))
            case .storeLedger: batch.isLedgerChanged = true
            case .storeOverrides: batch.areOverridesChanged = true
            case .publish(let name):
                if index.service(name) == nil {
                    batch.add(.withdraw(name))
                } else {
                    publishAgain(name)
                }
            }
        }
    }
}
