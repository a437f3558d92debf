/// What the sources of a service ask it about their answers.
extension ServiceState {
    /// Whether a new answer brings nothing new for the service: the flags that it reads are those in
    /// force, as of the same changes. Most answers of a source that many services read do not concern
    /// most of them.
    func repeats(_ answer: NumberedAnswer, at position: Int) -> Bool {
        guard let known = switches[position].settled, readsSame(known, answer, at: position) else {
            return false
        }
        guard case .ofEach = answer.answer.version else { return true }
        return version(of: answer, at: position) == switches[position].version
    }

    /// The version of an answer for the service. A word for all flags does not count while the flags
    /// that the service reads stay the same.
    func version(of answer: NumberedAnswer, at position: Int) -> String? {
        if case .ofAll = answer.answer.version, let known = switches[position].answer,
            !known.answer.isInherited, readsSame(known, answer, at: position)
        {
            return switches[position].version
        }
        return service.version(of: answer.answer, from: service.switches[position].source)
    }

    /// Whether the service finds the same in both answers. A flag that cannot be read is not a missing one.
    private func readsSame(
        _ known: NumberedAnswer, _ answer: NumberedAnswer, at position: Int
    ) -> Bool {
        // Another signed document has another end, and perhaps other authors.
        guard known.answer.unreadable == answer.answer.unreadable,
            known.answer.signed == answer.answer.signed
        else { return false }
        return service.findsSame(
            in: known.flags, and: answer.flags, of: service.switches[position].source)
    }

    /// Whether a switch has read the newest answer without a problem.
    func hasRead(_ newest: Int, at position: Int) -> Bool {
        switches[position].newestReadable == newest && switches[position].problem == nil
    }

    /// Adds the numbers of the answers on which a switch and the values of its source rest.
    func addAnswers(at position: Int, to used: inout Set<Int>) {
        if let answer = switches[position].answer?.number { used.insert(answer) }
        if let staged = switches[position].staged?.number { used.insert(staged) }
        values.addAnswers(of: service.switches[position].source, in: service, to: &used)
    }

    /// The wait between two polls that the flags of a switch ask for while the service is closed.
    func pace(at position: Int) -> Duration? {
        record?.verdict.gate == .closed ? switches[position].reading?.retryAfter : nil
    }

    /// The last version jump in the flags of a switch; nil without one.
    func versionJump(at position: Int) -> VersionJump? { switches[position].versionJump }
}
