import CivilTime

/// The way of an answer: from its source down to the switches that read it, and up again as effects
/// that store and announce it.
extension Machine {
    /// Takes in the outcome of a fetch. Returns the source if it has answered.
    mutating func receive(_ outcome: Outcome, from source: Int) -> Int? {
        switch outcome {
        case .answer(let answer):
            switch sources[source].orders.admit(answer, at: time(for: source)) {
            case .counts: return receive(answer, from: source)
            case .raises where countsForNobody(answer, of: source):
                // One signer must not use up the versions of those who sign together.
                return receive(answer, from: source)
            case .raises(let version):
                sources[source].orders.hold(answer)
                batch.add(.storeVersion(sources[source].name, version))
            case .refused(let refusal):
                if refusal.slug == .versionUnreadable {
                    batch.add(.readVersion(sources[source].name))
                }
                fail(source, Failure(refusal))
            }
            return nil
        case .unchanged where !sources[source].answers.isEmpty:
            confirm(source)
            batch.notices += sources[source].succeed(.unchanged)
            return source
        case .unchanged:
            fail(source, Failure(.invalid, "the answer says 'unchanged', but nothing is known yet"))
            return nil
        case .failure(let failure):
            fail(source, failure)
            return nil
        }
    }

    /// Takes in that the version of the document which waits for this is stored, or why it is not. Returns
    /// the source if it has answered with that.
    mutating func receiveStored(_ source: Int, _ problem: String?) -> Int? {
        guard let problem else {
            return sources[source].orders.raise().map {
                receive($0.answer, from: source, hasVersionJump: $0.hasVersionJump)
            }
        }
        guard sources[source].orders.drop() != nil else { return nil }
        let clause = "its version cannot be stored, and counts for nothing before: \(problem)"
        fail(source, Failure(DocumentRefusal(.versionNotStored, clause)))
        return nil
    }

    /// Takes in an answer that counts.
    private mutating func receive(
        _ answer: Answer, from source: Int, hasVersionJump: Bool = false
    ) -> Int {
        var result = FetchCounts.Result.unchanged
        if sources[source].repeats(answer) {
            disinherit(answer, of: source)
            confirm(source, by: answer.signed?.authors)
        } else {
            let isAccepted = offer(answer, of: source, hasVersionJump: hasVersionJump)
            result = isAccepted ? .changed : .invalid
        }
        batch.notices += sources[source].succeed(result)
        return source
    }

    /// Whether no switch of a source would accept a signed answer.
    private func countsForNobody(_ answer: Answer, of source: Int) -> Bool {
        let readers = index.readers[source]
        guard answer.signed != nil, !readers.isEmpty else { return false }
        var answer = NumberedAnswer(
            number: 0, answer: answer, defaults: sources[source].plan.defaults)
        answer.hasVersionJump = sources[source].orders.hasVersionJump(to: answer.answer)
        return !readers.contains { reader in
            let override = overrides[services[reader.service].service.name]
            return services[reader.service].wouldCount(
                answer, at: reader.position, override, on: host)
        }
    }

    /// The answers of a source on which a switch or a value rests, the newest first.
    package func answers(of source: SourceName) -> [Answer] {
        index.source(source).map { sources[$0].answers.map(\.answer) } ?? []
    }

    /// Takes in which documents of a source are unproved.
    mutating func disprove(_ name: SourceName, _ causes: [[UInt8]: String]) {
        guard let source = index.source(name) else { return }
        sources[source].orders.disprove(causes)
        noteProof(of: source)
        unstage(source)
        noteDisproofs(of: source)
    }

    /// Tells why flags of a source are unproved, and takes the warnings about other flags back.
    private mutating func noteDisproofs(of source: Int) {
        let clauses = sources[source].orders.disproofs(of: sources[source].answers)
        if clauses.isEmpty, sources[source].problems.isEmpty { return }
        let time = now.wall
        batch.notices += sources[source].note { $0.note(disproofs: clauses, at: time) }
    }

    /// Takes back what is staged and unproved. It is staged again once its source gives it with a
    /// proof.
    private mutating func unstage(_ source: Int) {
        let unproved = sources[source].answers.filter {
            !sources[source].orders.isProved($0.answer)
        }.map(\.number)
        guard !unproved.isEmpty else { return }
        var isUnstaged = false
        for reader in index.readers[source] {
            guard let staged = services[reader.service].switches[reader.position].staged,
                unproved.contains(staged.number)
            else { continue }
            services[reader.service].unstage(at: reader.position)
            isUnstaged = true
        }
        guard isUnstaged else { return }
        dropUnused(of: source)
        store(source)
    }

    /// Notes which switches of a source rest on flags that are not proved.
    mutating func noteProof(of source: Int) {
        for reader in index.readers[source] {
            let isOutdated = services.ask(reader.service) { service in
                service.switches[reader.position].isProofOutdated(by: sources[source].orders)
            }
            guard isOutdated else { continue }
            services[reader.service].noteProof(by: sources[source].orders, at: reader.position)
        }
    }

    /// Offers a new answer to every switch of its source. A switch that accepts it rests on it from
    /// now on; the others keep their earlier answer, which stays stored as long as they need it. False if no
    /// switch accepts it.
    private mutating func offer(_ answer: Answer, of source: Int, hasVersionJump: Bool) -> Bool {
        let known = sources[source].answers.first
        var answer = sources[source].number(answer)
        if hasVersionJump { answer.hasVersionJump = true }
        // The end of a signed document counts for each flag, so that each switch reads it.
        let isSigned = answer.answer.signed != nil
        let changes = isSigned ? nil : known.flatMap { FlagChanges(from: $0, to: answer) }
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

    /// The time by which a signed document of a source may have expired; nil while no clock is believed.
    private func time(for source: Int) -> Instant? {
        let clock = host.trust.clock(of: sources[source].name, wait: .zero, past: nil, at: now)
        if case .server(let time) = clock { return time }
        return host.trust.believes(now) ? now.wall : nil
    }

    /// Offers an answer to one switch. True if it has to be stored.
    private mutating func offer(
        _ answer: NumberedAnswer, to reader: SwitchPosition, _ changes: FlagChanges? = nil
    ) -> Bool {
        let override = overrides[services[reader.service].service.name]
        return services[reader.service].offer(
            answer, to: reader.position, changes, override, on: host, &batch.notices)
    }

    /// Takes in that a source has confirmed its newest answer. A switch that does not rest on this
    /// answer reads it again. For it, those have signed who count now.
    private mutating func confirm(_ source: Int, by authors: [String]? = nil) {
        var newest = sources[source].answers[0]
        if let authors, let signed = newest.answer.signed {
            newest.answer.signed = SignedAnswer(
                signed.order, by: authors, signatures: signed.signatures)
        }
        var isTaken = false
        for reader in index.readers[source] {
            if services[reader.service].confirm(newest.number, at: reader.position, now) {
                continue
            }
            if offer(newest, to: reader) { isTaken = true }
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
            let override = overrides[services[reader.service].service.name]
            let isWaiting = services[reader.service].serve(
                sources[source], at: reader.position, override, on: host)
            if isWaiting { mustFetch = true }
        }
        noteProof(of: source)
        noteVersionJumps(of: source)
        dropUnused(of: source)
        noteDisproofs(of: source)
        if mustFetch { sources[source].hint(at: now) }
    }

    /// The validators for the next request: none while a switch cannot read the newest answer, so
    /// that the answer is fetched and read again.
    func validators(of source: Int) -> Validators {
        guard let newest = sources[source].answers.first else { return Validators() }
        // A document with other signatures may be proved.
        guard sources[source].orders.isProved(newest.answer) else { return Validators() }
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
        noteDisproofs(of: source)
    }

    /// Tells which versions in the flags of a source have jumped.
    private mutating func noteVersionJumps(of source: Int) {
        let jumps = index.readers[source].compactMap { reader in
            services.ask(reader.service) { $0.versionJump(at: reader.position) }
        }
        let distinct = sources[source].orders.versionJumps(unsigned: jumps)
        if distinct.isEmpty, sources[source].problems.isEmpty { return }
        let time = now.wall
        batch.notices += sources[source].note { $0.note(versionJumps: distinct, at: time) }
    }

    /// Adds the effect that stores the answers of a source.
    mutating func store(_ source: Int) {
        _ = noteReaders(of: source)
        batch.add(.storeFlags(sources[source].name, sources[source].answers.map(\.answer)))
    }

    /// Stores the signed answers of a source again if other switches rest on them, since a reload.
    mutating func storeReaders(of source: Int) {
        if noteReaders(of: source) { store(source) }
    }

    /// Notes with each signed answer of a source which switches rest on it. True if that is new.
    private mutating func noteReaders(of source: Int) -> Bool {
        guard sources[source].answers.contains(where: { $0.answer.signed != nil }) else {
            return false
        }
        var readers: [Int: [AnswerReader]] = [:]
        for reader in index.readers[source] {
            let service = services[reader.service]
            let state = service.switches[reader.position]
            for number in [state.answer?.number, state.staged?.number].compactMap(\.self) {
                readers[number, default: []].append(
                    AnswerReader(service: service.service.name, position: reader.position))
            }
        }
        return sources[source].note(readers: readers)
    }
}
