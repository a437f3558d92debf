/// Which signed answers count for a service: the known ones (at a start those that were stored, at a
/// reload those in memory), and new ones.
extension ServiceState {
    /// Brings a switch to the newest known answer of its source that counts for it.
    ///
    /// The switch begins with the answer on which it rested before. If one signature is enough, the
    /// newer answers are offered, the oldest first. If more are needed, the switch waits for the source:
    /// a person who signed a stored answer may not be listed any more.
    mutating func catchUp(
        with source: SourceState, at position: Int, _ override: Override?, on host: HostState
    ) {
        let answers = source.answers
        let isStart = switches[position].reading == nil
        var newer = answers[...]
        if let number = switches[position].newestReadable {
            newer = answers.prefix { $0.number != number }
        } else if let stored = storedPosition(in: source, at: position) {
            switches[position].adopt(
                answers[stored...stored], confirmed: confirmation(of: answers[stored], source),
                by: service.switches[position], of: service)
            newer = answers[..<stored]
        }
        guard service.policy.mostSignatures == 1 else { return }
        for answer in newer.reversed() where source.orders.isProved(answer.answer) {
            consider(answer, of: source, isStart: isStart, at: position, override, on: host)
        }
    }

    /// The position of the answer on which a switch rested in an earlier run: the newest that is proved.
    private func storedPosition(in source: SourceState, at position: Int) -> Int? {
        let reader = AnswerReader(service: service.name, position: position)
        let own = source.answers.indices.filter {
            source.answers[$0].answer.readers.contains(reader)
        }
        return own.first { source.orders.isProved(source.answers[$0].answer) } ?? own.last
    }

    /// Puts a known answer in force, or stages it, if it counts for a switch.
    private mutating func consider(
        _ answer: NumberedAnswer, of source: SourceState, isStart: Bool, at position: Int,
        _ override: Override?, on host: HostState
    ) {
        let reading: Reading
        do {
            reading = try answer.read(by: service.switches[position], of: service)
            try switches[position].checkVersion(of: reading)
        } catch {
            _ = switches[position].markInvalid(error)
            return
        }
        // It is offered again at the next poll, and counts as one of those that have to agree.
        if mover(reading, at: position, override, on: host) != nil { return }
        if !isStart, service.activation == .nextStart, switches[position].reading != nil {
            switches[position].stage(answer, by: service.switches[position], of: service)
        } else {
            switches[position].adopt(
                answer, reading, confirmed: confirmation(of: answer, source),
                version: service.version(of: answer.answer, from: source.name))
        }
        switches[position].acceptNewest()
    }

    /// When a source last confirmed one of its answers.
    private func confirmation(of answer: NumberedAnswer, _ source: SourceState) -> Confirmation {
        answer.number == source.answers.first?.number
            ? source.confirmation : answer.answer.lastConfirmed
    }

    // MARK: - Signatures of new answers

    /// The signatures that a new answer lacks before it counts for a switch; nil if it lacks none, or comes
    /// from a source without signers. It must not take a staged order back either.
    func missingSignatures(
        under next: Reading, _ answer: NumberedAnswer, at position: Int, _ override: Override?,
        on host: HostState
    ) -> MissingSignatures? {
        guard let authors = answer.answer.signed?.authors else { return nil }
        if answer.hasVersionJump, authors.count < service.policy.mostSignatures {
            let needed = service.policy.mostSignatures
            return MissingSignatures(gate: nil, authors: authors, needed: needed)
        }
        var circumstances = circumstances(override, on: host)
        var before = [evidence(on: host)[position]]
        if before[0].isAwaited {
            // A start excuses stale flags until their source answers, unless `when_stale` had already
            // moved the gate.
            circumstances.wantedBefore = wanted.atStart ?? service.policy.whenStale.gate
        }
        if let staged = switches[position].staged?.reading {
            var evidence = Evidence(source: before[0].source, reading: staged)
            evidence.clock = before[0].clock
            before.append(evidence)
        }
        return before.lazy.compactMap { evidence in
            service.missingSignatures(
                under: next, by: authors, before: evidence, in: circumstances)
        }.first
    }

    /// Whether an answer would count for a switch: it can read it, and enough people have signed it.
    func wouldCount(
        _ answer: NumberedAnswer, at position: Int, _ override: Override?, on host: HostState
    ) -> Bool {
        do {
            let reading = try answer.read(by: service.switches[position], of: service)
            try switches[position].checkVersion(of: reading)
            return missingSignatures(under: reading, answer, at: position, override, on: host)
                == nil
        } catch {
            return false
        }
    }
}
