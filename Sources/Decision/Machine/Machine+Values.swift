import JSON

extension Machine {
    /// Reads the values that go with a switch which rests on `answer` now. One of the wrong type
    /// keeps the last good one.
    mutating func takeValues(
        of user: Wiring.User, from answer: NumberedAnswer, _ batch: inout Batch
    ) {
        guard !services[user.service].remote.isEmpty else { return }
        let service = services[user.service].service
        guard service.isLead(user.position) else { return }
        let source = service.switches[user.position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            guard let problem = services[user.service].remote[index].take(answer, as: plan)
            else { continue }
            batch.notices.append(.valueInvalid(service.name, plan.name, source, problem))
        }
    }

    /// Reads the values that go with a switch from the answers that there are: each from the newest
    /// that is good for it, but from none that is newer than what the switch rests on.
    mutating func adoptValues(of user: Wiring.User, from answers: [NumberedAnswer]) {
        let service = services[user.service].service
        guard service.isLead(user.position) else { return }
        let lead = services[user.service].switches[user.position].answer
        let usable = answers.drop { $0.number != lead }
        let source = service.switches[user.position].source
        for (index, plan) in service.remote.enumerated() where plan.source == source {
            var held = HeldValue(value: plan.fallback)
            for answer in usable where held.answer == nil {
                _ = held.take(answer, as: plan)
            }
            services[user.service].remote[index] = held
        }
    }
}

extension Service {
    /// The variant, where there is one, and the values.
    var remote: [RemoteValue] { (variant.map { [$0] } ?? []) + values }

    /// Whether this is the first switch on its source: the values of that go with it.
    fileprivate func isLead(_ position: Int) -> Bool {
        !switches[..<position].contains { $0.source == switches[position].source }
    }
}

extension ServiceState {
    /// Completes a verdict by what else the flags say.
    func complete(_ verdict: Verdict) -> Verdict {
        guard !remote.isEmpty else { return verdict }
        var verdict = verdict
        var held = remote[...]
        if service.variant != nil { verdict.variant = held.popFirst()?.value?.string }
        verdict.values = JSON.Object(
            zip(service.values, held).map { ($0.name.text, $1.value ?? .null) })
        return verdict
    }
}
