import JSON

/// The last good values of a service, and its variant if it has one. They are read from the same answer as the
/// service's first switch on their source.
struct ServiceValues: Hashable, Sendable {
    private var held: [HeldValue]

    /// Every value with its default.
    init(of service: Service) { held = service.remote.map { HeldValue(value: $0.fallback) } }

    /// Whether the service has neither values nor a variant.
    var isEmpty: Bool { held.isEmpty }

    /// Reads the values from the answer on which a switch rests now. A wrong type leaves the last good value.
    mutating func read(
        from answer: inout AnswerReader, at position: Int, of service: Service
    ) {
        guard !held.isEmpty, service.isPrimary(position) else { return }
        let source = service.switches[position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            held[index].read(from: &answer, as: plan)
        }
    }

    /// Whether the service reads the same values in an answer of this source as before.
    func areThose(
        in answer: inout AnswerReader, of source: SourceName, for service: Service
    ) -> Bool {
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            guard held[index].isSame(in: &answer, as: plan) else { return false }
        }
        return true
    }

    /// Throws for an answer in which a value is too large, or which makes all values too large together.
    func check(
        _ answer: inout AnswerReader, at position: Int, of service: Service
    ) throws(InvalidFlag) {
        guard !held.isEmpty else { return }
        let source = service.switches[position].source
        var total = 0
        for (value, plan) in zip(held, service.remote) {
            total += plan.source == source ? try value.size(in: &answer, as: plan) : value.size
            try FlagLimit.values.check(total, of: plan.key)
        }
    }

    /// Reads the values from known answers, newest first: each from the newest with a good value, and none from an
    /// answer newer than `lead`, on which the switch rests.
    mutating func adopt(
        _ answers: inout [AnswerReader], upTo lead: Int?, at position: Int, of service: Service
    ) {
        guard !held.isEmpty, service.isPrimary(position) else { return }
        let usable = (answers.firstIndex { $0.number == lead } ?? answers.count)..<answers.count
        let source = service.switches[position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            held[index] = HeldValue(value: plan.fallback)
        }
        var total = held.reduce(0) { $0 + $1.size }
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            let fallback = held[index]
            for number in usable where held[index].answer == nil {
                held[index].read(from: &answers[number], as: plan)
            }
            total += held[index].size - fallback.size
            // A reload may have added values: those before them fit.
            guard total > FlagLimit.values.count else { continue }
            total += fallback.size - held[index].size
            held[index] = fallback
        }
    }

    /// Adds the numbers of the answers of a source from which values were read.
    func addAnswers(of source: SourceName, in service: Service, to used: inout Set<Int>) {
        guard !held.isEmpty else { return }
        for (value, plan) in zip(held, service.remote) where plan.source == source {
            if let answer = value.answer { used.insert(answer) }
        }
    }

    /// Calls `report` for each value that the newest answer did not give.
    func forEachProblem(
        of service: Service, _ report: (ValueName, SourceName, InvalidFlag) -> Void
    ) {
        for (value, plan) in zip(held, service.remote) {
            if let problem = value.problem { report(plan.name, plan.source, problem) }
        }
    }

    /// The verdict with the variant and the values.
    func complete(_ verdict: Verdict, of service: Service) -> Verdict {
        guard !held.isEmpty else { return verdict }
        var verdict = verdict
        var held = held[...]
        if service.variant != nil { verdict.variant = held.popFirst()?.value?.string }
        verdict.values = JSON.Object(
            zip(service.values, held).map { ($0.name.text, $1.value ?? .null) })
        return verdict
    }
}

/// The last good value of one remote value.
private struct HeldValue: Hashable {
    var value: JSON.Value?
    /// The number of the answer from which it was read; nil for the default.
    var answer: Int?
    /// Why the newest answer did not give a value.
    var problem: InvalidFlag?

    var size: Int { value?.size ?? 0 }

    /// How many bytes it would have by an answer; a flag that cannot be read leaves it as it is.
    func size(in answer: inout AnswerReader, as plan: RemoteValue) throws(InvalidFlag) -> Int {
        do throws(InvalidFlag) {
            return try answer.read(plan).size
        } catch {
            if case .tooLarge = error { throw error }
            return size
        }
    }

    /// Whether an answer says the same of it as the answer before.
    func isSame(in answer: inout AnswerReader, as plan: RemoteValue) -> Bool {
        do throws(InvalidFlag) {
            let new = try answer.read(plan)
            return problem == nil && self.answer != nil && value == new
        } catch {
            return problem == error
        }
    }

    /// Reads an answer. A flag of the wrong type changes nothing but the problem.
    mutating func read(from answer: inout AnswerReader, as plan: RemoteValue) {
        do {
            value = try answer.read(plan)
            (self.answer, problem) = (answer.number, nil)
        } catch {
            problem = error
        }
    }
}

extension Service {
    /// Whether this is the first switch on its source: the values are read from its answers.
    fileprivate func isPrimary(_ position: Int) -> Bool {
        !switches[..<position].contains { $0.source == switches[position].source }
    }
}
