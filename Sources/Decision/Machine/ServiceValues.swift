import JSON

/// The variant of a service, where it has one, and its values: what is known of each.
///
/// They are read from the very answer that the first of the service's switches on their source rests
/// on.
struct ServiceValues: Hashable, Sendable {
    private var held: [HeldValue]

    /// The values of which nothing is known but their defaults.
    init(of service: Service) {
        held = service.remote.map { HeldValue(value: $0.fallback) }
    }

    /// Reads the values that go with a switch from the answer that it rests on now. One of the wrong
    /// type keeps the last good one.
    mutating func take(
        _ answer: NumberedAnswer, at position: Int, of service: Service,
        _ notices: inout [Notice]
    ) {
        guard !held.isEmpty, service.isLead(position) else { return }
        let source = service.switches[position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            guard let problem = held[index].take(answer, as: plan) else { continue }
            notices.append(.valueInvalid(service.name, plan.name, source, problem))
        }
    }

    /// Reads the values that go with a switch from known answers: each from the newest that is good
    /// for it, but from none that is newer than `lead`, the one that the switch rests on.
    mutating func adopt(
        _ answers: [NumberedAnswer], lead: Int?, at position: Int, of service: Service
    ) {
        guard !held.isEmpty, service.isLead(position) else { return }
        let usable = answers.drop { $0.number != lead }
        let source = service.switches[position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            held[index] = HeldValue(value: plan.fallback)
            for answer in usable where held[index].answer == nil {
                _ = held[index].take(answer, as: plan)
            }
        }
    }

    /// Adds the numbers of the answers of a source that values are read from.
    func addAnswers(of source: SourceName, in service: Service, to used: inout Set<Int>) {
        guard !held.isEmpty else { return }
        for (value, plan) in zip(held, service.remote) where plan.source == source {
            if let answer = value.answer { used.insert(answer) }
        }
    }

    /// Completes a verdict by the variant and the values.
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
    /// The number of the answer that it was read from; nil where it is the default.
    var answer: Int?
    /// Why the newest answer did not give one.
    var problem: InvalidFlag?

    init(value: JSON.Value?) {
        self.value = value
    }

    /// Reads an answer. One of the wrong type changes nothing; what is wrong with it is given once.
    mutating func take(_ answer: NumberedAnswer, as plan: RemoteValue) -> InvalidFlag? {
        do {
            value = try plan.read(answer.flags)
            self.answer = answer.number
            problem = nil
            return nil
        } catch {
            defer { problem = error }
            return problem == error ? nil : error
        }
    }
}

extension Service {
    /// The variant, where there is one, and the values.
    fileprivate var remote: [RemoteValue] { (variant.map { [$0] } ?? []) + values }

    /// Whether this is the first switch on its source: the values of that source go with it.
    fileprivate func isLead(_ position: Int) -> Bool {
        !switches[..<position].contains { $0.source == switches[position].source }
    }
}
