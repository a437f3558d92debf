/// What the sources of a service ask it about their answers.
extension ServiceState {
    /// Whether a new answer brings nothing new for the service: what it reads is in force, as of the same changes.
    func bringsNothingNew(
        _ answer: inout AnswerReader, _ reading: Reading, at position: Int
    ) -> Bool {
        guard switches[position].isStable, isInForce(&answer, reading, at: position) else {
            return false
        }
        guard case .ofEach = answer.answer.version else { return true }
        let version = service.version(of: answer.answer, from: service.switches[position].source)
        return version == switches[position].version
    }

    /// The version of an answer for the service. A word for all flags counts only if the flags that it reads change.
    func version(of answer: inout AnswerReader, _ reading: Reading, at position: Int) -> String? {
        if case .ofAll = answer.answer.version, let known = switches[position].answer,
            !known.answer.isInherited, isInForce(&answer, reading, at: position)
        {
            return switches[position].version
        }
        return service.version(of: answer.answer, from: service.switches[position].source)
    }

    /// The reading of an answer by a switch that may rest on it. Throws if it may not.
    func read(_ answer: inout AnswerReader, at position: Int) throws(InvalidFlag) -> Reading {
        let reading = try answer.read(by: service.switches[position], of: service)
        try switches[position].checkVersion(of: reading)
        try values.check(&answer, at: position, of: service)
        return reading
    }

    /// Whether the service reads in an answer what it has read in the answer in force. Another signed document has
    /// another end, and perhaps other authors.
    private func isInForce(
        _ answer: inout AnswerReader, _ reading: Reading, at position: Int
    ) -> Bool {
        guard let known = switches[position].answer?.answer,
            known.unreadable == answer.answer.unreadable, known.signed == answer.answer.signed,
            switches[position].reading == reading
        else { return false }
        return values.areThose(in: &answer, of: service.switches[position].source, for: service)
    }

    /// Whether a switch has read the newest answer without a problem.
    func hasRead(_ newest: Int, at position: Int) -> Bool {
        switches[position].newestReadable == newest && switches[position].problem == nil
    }

    /// The numbers of the answers on which a switch rests: in force, and staged.
    func answers(at position: Int) -> [Int] {
        [switches[position].answer?.number, switches[position].staged?.number].compactMap(\.self)
    }

    /// Notes that an inherited answer is its source's own.
    mutating func acceptAsOwn(_ answer: NumberedAnswer, at position: Int) {
        let version = service.version(of: answer.answer, from: service.switches[position].source)
        switches[position].acceptAsOwn(answer, version: version)
    }

    /// Whether an answer is staged for a switch.
    var isStaged: Bool { switches.contains { $0.staged != nil } }

    /// Adds the numbers of the answers on which a switch and the values of its source rest.
    func addAnswers(at position: Int, to used: inout Set<Int>) {
        used.formUnion(answers(at: position))
        values.addAnswers(of: service.switches[position].source, in: service, to: &used)
    }

    /// The wait between two polls that the flags of a switch ask for while the service is closed or an update
    /// is required.
    func pace(at position: Int) -> Duration? {
        guard let verdict = record?.verdict,
            verdict.gate == .closed || verdict.state == .updateRequired
        else { return nil }
        return switches[position].reading?.retryAfter
    }

    // MARK: - Known answers

    /// Puts the staged answer of a switch in force, if its source still has it and it is proved.
    mutating func activate(
        from source: SourceState, _ answers: inout [AnswerReader], at position: Int
    ) {
        guard let staged = switches[position].staged?.number,
            let number = answers.firstIndex(where: { $0.number == staged }),
            source.documents.isProved(answers[number].answer)
        else { return }
        do {
            let reading = try answers[number].read(by: service.switches[position], of: service)
            switches[position].putInForce(
                answers[number].numbered, reading,
                version: version(of: &answers[number], reading, at: position))
            flagsTookForce(&answers[number], at: position)
        } catch {
            // It stays staged until the next good answer. A reload may have changed how it is read.
            markInvalid(error, at: position)
        }
    }

    /// Adopts the known answers of its source for a switch without flags, and for its values. True if the switch
    /// is new and could read none of them, so that the source has to be fetched at once.
    mutating func adoptKnownAnswers(
        of source: SourceState, _ answers: inout [AnswerReader], at position: Int,
        on host: HostState
    ) -> Bool {
        if answers.contains(where: { $0.answer.signed != nil }) {
            catchUp(with: source, &answers, at: position, on: host)
        } else if switches[position].reading == nil, !answers.isEmpty {
            switches[position].adopt(
                &answers, 0...answers.count - 1, by: service.switches[position], of: service)
        }
        values.adopt(&answers, upTo: switches[position].answer?.number, at: position, of: service)
        let isNew = switches[position].awaitedSince == host.now.boot
        return switches[position].reading == nil && isNew
    }
}
