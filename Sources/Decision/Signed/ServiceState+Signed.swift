/// Which signed answers count for a service: new ones, and known ones at a start or a reload.
extension ServiceState {
    /// Brings a switch to the newest known answer of its source that counts for it.
    ///
    /// The switch begins with the answer on which it rested before. If one signature is enough, the
    /// newer answers are offered, the oldest first. If more are needed, the switch waits for the source:
    /// a person who signed a stored answer may not be listed any more.
    mutating func catchUp(
        with source: SourceState, _ answers: inout [AnswerReader], at position: Int,
        on host: HostState
    ) {
        let isStart = switches[position].reading == nil
        var newer = answers.indices
        if let number = switches[position].newestReadable {
            newer = 0..<(answers.firstIndex { $0.number == number } ?? answers.count)
        } else if let stored = storedPosition(in: source, at: position) {
            switches[position].adopt(
                &answers, stored...stored, by: service.switches[position], of: service)
            newer = 0..<stored
        }
        guard service.policy.mostSignatures == 1 else { return }
        for number in newer.reversed() where source.documents.isProved(answers[number].answer) {
            consider(&answers[number], of: source, isStart: isStart, at: position, on: host)
        }
    }

    /// The position of the answer on which a switch rested in an earlier run: the newest that is proved.
    private func storedPosition(in source: SourceState, at position: Int) -> Int? {
        let reader = SwitchID(service: service.name, position: position)
        let own = source.answers.indices.filter {
            source.answers[$0].answer.switches.contains(reader)
        }
        return own.first { source.documents.isProved(source.answers[$0].answer) } ?? own.last
    }

    /// Puts a known answer in force, or stages it, if it counts for a switch.
    private mutating func consider(
        _ answer: inout AnswerReader, of source: SourceState, isStart: Bool, at position: Int,
        on host: HostState
    ) {
        let reading: Reading
        do {
            reading = try read(&answer, at: position)
        } catch {
            _ = switches[position].markInvalid(error)
            return
        }
        // It is offered again at the next poll, and counts as one of those that have to agree.
        if unconfirmedMove(reading, at: position, on: host) != nil { return }
        if !isStart, service.activation == .nextStart, switches[position].reading != nil {
            switches[position].stage(&answer, by: service.switches[position], of: service)
        } else {
            switches[position].putInForce(
                answer.numbered, reading,
                version: service.version(of: answer.answer, from: source.name))
        }
        switches[position].acceptNewest()
    }

    // MARK: - Signatures of new answers

    /// The signatures that a new answer lacks before it counts for a switch; nil if it lacks none, or comes
    /// from a source without signers. It must not take a staged order back either.
    func missingSignatures(
        under next: Reading, _ answer: inout AnswerReader, at position: Int,
        confirmed: Confirmation, on host: HostState
    ) -> MissingSignatures? {
        guard let authors = answer.answer.signed?.authors,
            authors.count < service.policy.mostSignatures
        else { return nil }
        if answer.numbered.hasVersionJump {
            let needed = service.policy.mostSignatures
            return MissingSignatures(gate: nil, authors: authors, needed: needed)
        }
        var circumstances = circumstances(on: host)
        let inForce = evidence(of: position, confirmed: confirmed, on: host)
        var before = [(inForce, number: switches[position].answer?.number)]
        if inForce.isAwaited {
            // A start excuses stale flags until their source answers, unless `when_stale` had moved the gate.
            circumstances.wantedBefore = wanted.atStart ?? service.policy.whenStale.gate
        }
        if let staged = switches[position].staged, let reading = staged.reading {
            var evidence = Evidence(source: inForce.source, reading: reading)
            evidence.clock = inForce.clock
            before.append((evidence, number: staged.number))
        }
        for (evidence, number) in before {
            let missing = service.missingSignatures(
                under: next, &answer, by: authors, read: service.switches[position],
                before: evidence, number, in: circumstances)
            if let missing { return missing }
        }
        return nil
    }

    /// Whether an answer would count for a switch: it can read it, and enough people have signed it.
    func wouldCount(
        _ answer: inout AnswerReader, at position: Int, confirmed: Confirmation, on host: HostState
    ) -> Bool {
        do {
            let reading = try read(&answer, at: position)
            return missingSignatures(
                under: reading, &answer, at: position, confirmed: confirmed, on: host) == nil
        } catch {
            return false
        }
    }
}
