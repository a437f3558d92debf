import CivilTime

/// The way of an answer: from its source down to the switches that read it, and up again as effects
/// that store and announce it.
extension Machine {
    /// Takes in the outcome of a fetch. Returns the source if it has answered.
    mutating func receive(
        _ outcome: Outcome, from source: Int, at now: Now, _ batch: inout EffectBatch
    ) -> Int? {
        switch outcome {
        case .answer(let answer):
            if sources[source].repeats(answer) {
                disinherit(answer, of: source, &batch)
                confirm(source, at: now, &batch)
            } else {
                offer(answer, of: source, at: now, &batch)
            }
        case .unchanged where !sources[source].answers.isEmpty:
            confirm(source, at: now, &batch)
        case .unchanged:
            let failure = Failure(.invalid, "the answer says 'unchanged', but nothing is known yet")
            fail(source, failure, at: now, &batch)
            return nil
        case .failure(let failure):
            fail(source, failure, at: now, &batch)
            return nil
        }
        if sources[source].succeed() {
            batch.notices.append(.sourceRecovered(sources[source].name))
        }
        return source
    }

    /// Offers a new answer to every switch of its source. A switch that accepts it rests on it from
    /// now on; the others keep their earlier answer, which stays stored as long as they need it.
    private mutating func offer(
        _ answer: Answer, of source: Int, at now: Now, _ batch: inout EffectBatch
    ) {
        let answer = sources[source].number(answer)
        let host = hostState(at: now)
        var isKept = false
        for reader in sources[source].readers {
            let override = overrides[services[reader.service].service.name]
            let isTaken = services[reader.service].offer(
                answer, to: reader.position, override, on: host, &batch.notices)
            if isTaken { isKept = true }
        }
        guard isKept else { return }
        let name = sources[source].name
        for key in sources[source].keep(answer, at: now) {
            batch.notices.append(.flagVanished(name, key: key))
        }
        dropUnused(of: source)
        batch.confirmations.append(.markConfirmed(name))
        store(source, &batch)
        trust.raiseFloor(to: answer.answer.fetchedAt, at: now)
    }

    /// Takes in that a source has confirmed its newest answer.
    private mutating func confirm(_ source: Int, at now: Now, _ batch: inout EffectBatch) {
        let newest = sources[source].answers[0]
        let host = hostState(at: now)
        var isTaken = false
        for reader in sources[source].readers {
            let override = overrides[services[reader.service].service.name]
            let wasOffered = services[reader.service].confirm(
                newest, at: reader.position, override, on: host, &batch.notices)
            if wasOffered { isTaken = true }
        }
        sources[source].confirm(at: now)
        batch.confirmations.append(.markConfirmed(sources[source].name))
        guard isTaken else { return }
        dropUnused(of: source)
        store(source, &batch)
    }

    /// Makes an inherited newest answer the source's own, because the present address gives the
    /// same. Stores it, so that a restart knows this too.
    private mutating func disinherit(
        _ answer: Answer, of source: Int, _ batch: inout EffectBatch
    ) {
        guard let own = sources[source].disinherit(answer) else { return }
        for reader in sources[source].readers {
            services[reader.service].acceptAsOwn(own, at: reader.position)
        }
        store(source, &batch)
    }

    /// Restores the stored flags of a source: each switch rests on the newest answer that it can
    /// read.
    mutating func restore(_ stored: Memory.StoredFlags, to source: Int) {
        sources[source].restore(stored)
        for reader in sources[source].readers {
            services[reader.service].adopt(
                sources[source].answers, confirmed: sources[source].confirmation,
                at: reader.position)
        }
        dropUnused(of: source)
    }

    /// The validators for the next request: none while a switch cannot read the newest answer, so
    /// that the answer is fetched and read again.
    func validators(of source: Int) -> Validators {
        guard let newest = sources[source].answers.first else { return Validators() }
        let isReadByAll = sources[source].readers.allSatisfy {
            services[$0.service].hasRead(newest.number, at: $0.position)
        }
        return isReadByAll ? newest.answer.validators : Validators()
    }

    /// Drops the answers of a source on which no switch and no value rests any more.
    mutating func dropUnused(of source: Int) {
        guard sources[source].answers.count > 1 else { return }
        var used: Set<Int> = []
        for reader in sources[source].readers {
            services[reader.service].addAnswers(at: reader.position, to: &used)
        }
        sources[source].dropAnswers(except: used)
    }

    /// Adds the effect that stores the answers of a source.
    private func store(_ source: Int, _ batch: inout EffectBatch) {
        batch.stores.append(
            .storeFlags(sources[source].name, sources[source].answers.map(\.answer)))
    }

    // MARK: - Writes

    /// Notes the outcome of a write. A failed write is retried.
    mutating func note(
        _ operation: WriteOperation, _ problem: String?, at now: Now, _ batch: inout EffectBatch
    ) {
        guard let problem else {
            if pendingWrites.succeed(operation) { batch.notices.append(.recordsRecovered) }
            return
        }
        var others: [WriteOperation] = []
        if case .markConfirmed = operation {
            // The runtime directory may be gone: write the files of every service again.
            others = services.filter { $0.record != nil }.map { .publish($0.service.name) }
        }
        if pendingWrites.fail(operation, alsoRetry: others, at: now) {
            batch.notices.append(.recordFailed(operation, problem: problem))
        }
    }

    /// Adds the effects that retry the pending writes that are due.
    mutating func retryWrites(at now: Now, _ batch: inout EffectBatch) {
        for operation in pendingWrites.due(at: now) {
            switch operation {
            case .storeFlags(let name):
                if let source = index.source(name) { store(source, &batch) }
            case .markConfirmed(let name):
                if index.source(name) == nil {
                    batch.departures.append(.unfollow(name))
                } else {
                    batch.confirmations.append(.markConfirmed(name))
                }
            case .storeLedger:
                batch.isLedgerChanged = true
            case .storeOverrides:
                batch.areOverridesChanged = true
            case .publish(let name):
                guard let service = index.service(name) else {
                    batch.departures.append(.withdraw(name))
                    continue
                }
                guard let record = services[service].record else { continue }
                batch.publications.append(.publish(services[service].service, record))
            }
        }
    }
}
