import CivilTime

/// The way of an answer: from its source to its switches, and up again as effects that store and announce it.
extension Machine {
    /// A fetch has ended. Returns the source if it has answered.
    mutating func fetchEnded(_ outcome: Outcome, from source: Int) -> Int? {
        if index.hasMirrors, endMirrorFetch(of: source, by: outcome) { return nil }
        switch outcome {
        case .answer(let answer):
            let version: AcceptedVersion?
            do {
                version = try sources[source].documents.admit(
                    answer, at: time(for: source), signatures: mostSignatures(of: source))
            } catch {
                if error.slug == .versionUnreadable {
                    batch.add(.readVersion(sources[source].name))
                }
                fetchFailed(source, Failure(error))
                return nil
            }
            guard let version else { return answerArrived(answer, from: source) }
            var reader = AnswerReader(sources[source].number(answer))
            guard isWanted(&reader, at: source) else {
                return answerArrived(answer, from: source, by: reader)
            }
            awaitVersion(answer, of: source, version)
            return nil
        case .unchanged where !sources[source].answers.isEmpty:
            return answerConfirmed(by: source)
        case .unchanged:
            fetchFailed(
                source, Failure(.invalid, "the answer says 'unchanged', but nothing is known yet"))
            return nil
        case .failure(let failure):
            fetchFailed(source, failure)
            return nil
        }
    }

    /// A good answer has been in caches on the way for `age`.
    mutating func ageArrived(_ age: Duration, from source: Int) {
        sources[source].ageArrived(age)
        guard age > .zero || sources[source].isFromCache, sources[source].mirrors == nil else {
            return
        }
        let clause =
            "a cache on the way answers in place of the server: its Age is over two intervals"
        let isOld = age > sources[source].interval * 2
        setProblems(.cached, of: source, to: isOld ? [clause] : [])
    }

    /// Has the version of a document stored, which counts afterwards.
    mutating func awaitVersion(_ answer: Answer, of source: Int, _ version: AcceptedVersion) {
        sources[source].documents.awaitVersion(of: answer, until: version)
        batch.add(.storeVersion(sources[source].name, version))
    }

    /// The version of a waiting document is stored, or is not. Returns the source if it has answered with that.
    mutating func versionStored(of source: Int, _ problem: String?) -> Int? {
        guard let problem else {
            guard let raised = sources[source].documents.versionStored() else { return nil }
            issueChanged(of: source)
            return answerArrived(raised.answer, from: source, hasVersionJump: raised.hasVersionJump)
        }
        guard sources[source].documents.dropAwaiting() else { return nil }
        let clause = "this host cannot store its version, and refuses it until then: \(problem)"
        fetchFailed(source, Failure(DocumentRefusal(.versionNotStored, clause)))
        return nil
    }

    /// Whether a document of a higher version would count for one of its switches, so that its version is stored. One
    /// signer must not use up the versions of those who sign together.
    private func isWanted(_ reader: inout AnswerReader, at source: Int) -> Bool {
        index.switches[source].isEmpty
            || index.switches[source].contains {
                services[$0.service].wouldCount(
                    &reader, at: $0.position, confirmed: confirmation(at: $0, of: source), on: host)
            }
    }

    /// When a source confirmed the flags of one of its switches.
    private func confirmation(at reader: SwitchPosition, of source: Int) -> Confirmation {
        sources[source].confirmation(
            of: services[reader.service].switches[reader.position].newestReadable)
    }

    /// An answer that counts has arrived: each switch of the source is offered it. `known`: it was read already.
    /// Returns the source.
    private mutating func answerArrived(
        _ answer: Answer, from source: Int, by known: AnswerReader? = nil,
        hasVersionJump: Bool = false
    ) -> Int {
        if sources[source].updateValidators(ifRepeating: answer) {
            makeNewestOwn(answer, of: source)
            return answerConfirmed(by: source, signedBy: answer.signed?.authors)
        }
        var reader = known ?? AnswerReader(sources[source].number(answer))
        if hasVersionJump { reader.numbered.hasVersionJump = true }
        var isKept = false
        for place in index.switches[source] {
            let confirmed = confirmation(at: place, of: source)
            if services[place.service].offer(
                &reader, to: place.position, confirmed: confirmed, on: host)
            {
                isKept = true
            }
        }
        if isKept {
            sources[source].fetches.changed += 1
            overviewRevision.answers += 1
            updateVersionJumps(of: source)
            batch.messages += sources[source].insert(reader.numbered, at: now)
            dropUnused(of: source)
            batch.add(.markConfirmed(sources[source].name))
            store(source)
            if host.trust.believes(now) { host.trust.raiseFloor(to: answer.fetchedAt) }
        } else {
            sources[source].fetches.invalid += 1
        }
        sources[source].fetchSucceeded(at: now)
        return source
    }

    /// A source has confirmed its newest answer. A switch that could not read it is offered it again, with these
    /// authors. Where each rests on it, no service is touched. Returns the source.
    private mutating func answerConfirmed(by source: Int, signedBy authors: [String]? = nil) -> Int
    {
        var isKept = false
        if !sources[source].isSettled(at: now) {
            var reader = AnswerReader(sources[source].newest(signedBy: authors))
            for place in index.switches[source] {
                let (position, confirmed) = (place.position, confirmation(at: place, of: source))
                let isKnown = services[place.service].confirmAnswer(
                    reader.number, at: position, confirmed: confirmed, now)
                if !isKnown,
                    services[place.service].offer(
                        &reader, to: position, confirmed: confirmed, on: host)
                {
                    isKept = true
                }
            }
        }
        if sources[source].answersSince == nil { overviewRevision.answers += 1 }
        sources[source].confirmAnswer(at: now)
        sources[source].fetches.unchanged += 1
        batch.add(.markConfirmed(sources[source].name))
        if isKept {
            updateVersionJumps(of: source)
            dropUnused(of: source)
            store(source)
        }
        sources[source].fetchSucceeded(at: now)
        return source
    }

    /// The answers of a source on which a switch or a value rests, the newest first.
    package func answers(of source: SourceName) -> [Answer] {
        index.source(source).map { sources[$0].answers.map(\.answer) } ?? []
    }

    /// Some documents of a source are unproved.
    mutating func disprove(_ name: SourceName, _ causes: [[UInt8]: String]) {
        guard let source = index.source(name) else { return }
        sources[source].documents.disprove(causes)
        updateProof(of: source)
        unstage(source)
        updateDisproofs(of: source)
    }

    /// Tells why flags of a source are unproved, and takes the warnings about other flags back.
    private mutating func updateDisproofs(of source: Int) {
        let clauses = sources[source].documents.disproofs(of: sources[source].answers)
        setProblems(.unproved, of: source, to: clauses)
    }

    /// Sets the present problems of a source of one kind.
    mutating func setProblems(_ kind: SourceProblems.Kind, of source: Int?, to present: [String]) {
        guard let source, !present.isEmpty || !sources[source].problems.isEmpty else { return }
        sources[source].problems.set(kind, to: present)
    }

    /// Takes back what is staged and unproved: it is staged again once its source gives it with a proof.
    private mutating func unstage(_ source: Int) {
        let unproved = sources[source].answers.filter {
            !sources[source].documents.isProved($0.answer)
        }.map(\.number)
        guard !unproved.isEmpty else { return }
        var isUnstaged = false
        for reader in index.switches[source] {
            let staged = services[reader.service].switches[reader.position].staged?.number
            guard let staged, unproved.contains(staged) else { continue }
            services[reader.service].change(switchAt: reader.position) { $0.unstage() }
            isUnstaged = true
        }
        guard isUnstaged else { return }
        dropUnused(of: source)
        store(source)
    }

    /// Notes which switches of a source rest on flags that are not proved.
    mutating func updateProof(of source: Int) {
        for reader in index.switches[source] {
            let state = services[reader.service].switches[reader.position]
            if state.isProofOutdated(by: sources[source].documents) {
                services[reader.service].change(switchAt: reader.position) { $0.proofChanged() }
            }
        }
    }

    /// Makes an inherited newest answer the source's own, also on disk: the present address gives the same.
    private mutating func makeNewestOwn(_ answer: Answer, of source: Int) {
        guard let own = sources[source].makeNewestOwn(answer) else { return }
        for reader in index.switches[source] {
            services[reader.service].acceptAsOwn(own, at: reader.position)
        }
        updateVersionJumps(of: source)
        store(source)
    }

    /// Gives the known answers of a source to its switches: each rests on the newest answer that it
    /// can read. If a new switch can read none of them, the source is fetched at once.
    mutating func offerKnownAnswers(of source: Int) {
        var mustFetch = false
        var answers = sources[source].answers.map { AnswerReader($0) }
        for reader in index.switches[source] {
            let isWaiting = services[reader.service].adoptKnownAnswers(
                of: sources[source], &answers, at: reader.position, on: host)
            if isWaiting { mustFetch = true }
        }
        updateProof(of: source)
        updateVersionJumps(of: source)
        dropUnused(of: source)
        updateDisproofs(of: source)
        if mustFetch { sources[source].requestFetch(at: now) }
    }

    /// The validators for the next request: none while a switch cannot read the newest answer, to read it again.
    func validators(of source: Int) -> Validators {
        newestRead(of: source)?.validators ?? Validators()
    }

    /// The newest answer of a source, if each switch has read it.
    func newestRead(of source: Int) -> Answer? {
        guard let newest = sources[source].answers.first?.answer else { return nil }
        // A document with other signatures may be proved.
        let isRead =
            sources[source].documents.isProved(newest) && sources[source].readership.hasReadNewest
        return isRead ? newest : nil
    }

    /// Drops the answers of a source on which no switch and no value rests any more.
    mutating func dropUnused(of source: Int) {
        guard sources[source].answers.count > 1 else { return }
        var used: Set<Int> = []
        for reader in index.switches[source] {
            services[reader.service].addAnswers(at: reader.position, to: &used)
        }
        sources[source].dropAnswers(except: used)
        updateDisproofs(of: source)
    }

    /// Tells which versions in the flags of a source have jumped.
    mutating func updateVersionJumps(of source: Int) {
        let jumps = index.switches[source].compactMap { reader in
            services[reader.service].switches[reader.position].versionJump
        }
        let distinct = sources[source].documents.versionJumps(unsigned: jumps)
        setProblems(.versionJump, of: source, to: distinct.map { $0.warning() }.sorted())
    }

    /// Adds the effect that stores the answers of a source.
    mutating func store(_ source: Int) {
        _ = updateSwitches(of: source)
        setAside(.flags(sources[source].name))
        batch.add(.storeFlags(sources[source].name, sources[source].answers.map(\.answer)))
    }

    /// Notes with each signed answer of a source which switches rest on it. True if that is new.
    mutating func updateSwitches(of source: Int) -> Bool {
        guard sources[source].answers.contains(where: { $0.answer.signed != nil }) else {
            return false
        }
        var readers: [Int: [SwitchID]] = [:]
        for reader in index.switches[source] {
            let service = services[reader.service]
            for number in service.answers(at: reader.position) {
                readers[number, default: []].append(
                    SwitchID(service: service.service.name, position: reader.position))
            }
        }
        return sources[source].updateSwitches(readers)
    }
}
