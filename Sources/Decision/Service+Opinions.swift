import CivilTime

extension Service {
    /// What one switch says in these circumstances; nil while its flags are waited for.
    ///
    /// An error is never an order: without flags the policy speaks, and a reading that has become
    /// doubtful keeps its force and says what is wrong with it.
    func opinion(of evidence: Evidence, in circumstances: Circumstances) -> Opinion? {
        guard let reading = evidence.reading else {
            return circumstances.isWaiting ? nil : opinionWithoutFlags(of: evidence.source)
        }
        let claims = reading.claims.map { opinion(on: $0, of: evidence, in: circumstances) }
        guard var opinion = mostRestrictive(claims) else { return nil }
        opinion.title = reading.title
        opinion.message = reading.message
        opinion.retryAfter = reading.retryAfter
        opinion.source = evidence.source
        opinion.version = evidence.version
        doubt(&opinion, evidence, circumstances)
        return opinion
    }

    /// The one that counts; of equals the first configured.
    func mostRestrictive(_ opinions: [Opinion]) -> Opinion? {
        opinions.reduce(nil) { best, next in
            guard let best else { return next }
            return next.outranks(best) ? next : best
        }
    }

    private func opinionWithoutFlags(of source: SourceName) -> Opinion {
        Opinion(
            state: policy.whenUnknown == .open ? .running : .maintenance,
            gate: policy.whenUnknown, reason: .unknown(source, policy.whenUnknown))
    }

    private func opinion(
        on claim: Claim, of evidence: Evidence, in circumstances: Circumstances
    ) -> Opinion {
        let said: Reason =
            evidence.isAnswered ? .flags(evidence.source) : .storedFlags(evidence.source)
        switch claim {
        case .running:
            return opinion(.running, said)
        case .maintenance:
            return opinion(.maintenance, said)
        case .updateRequired:
            return opinion(.updateRequired, said)
        case .ended:
            return opinion(.ended, said)
        case .countdown(.unreadable(let text)):
            return opinion(.countdown, .endUnreadable(evidence.source, text))
        case .countdown(.at(let end)):
            return countdown(to: end, said, evidence.source, circumstances)
        }
    }

    private func countdown(
        to end: Instant, _ said: Reason, _ source: SourceName, _ circumstances: Circumstances
    ) -> Opinion {
        let hasPassed = circumstances.time >= end
        let reason: Reason =
            if hasPassed {
                .endPassed(source)
            } else if !circumstances.isClockBelieved {
                .clockNotBelieved(source)
            } else {
                said
            }
        var opinion = opinion(hasPassed && policy.atEnd == .ended ? .ended : .countdown, reason)
        opinion.endsAt = end
        return opinion
    }

    private func opinion(_ state: State, _ reason: Reason) -> Opinion {
        Opinion(state: state, gate: policy.gate(of: state) ?? .open, reason: reason)
    }

    /// Says what is wrong with flags that are old or were followed by an invalid answer, and lets
    /// the policy decide for those that are too old.
    private func doubt(
        _ opinion: inout Opinion, _ evidence: Evidence, _ circumstances: Circumstances
    ) {
        if let problem = evidence.problem, opinion.reason.yieldsToDoubt {
            opinion.reason = .invalidAnswer(evidence.source, problem)
        }
        guard let maxStale = policy.maxStale, evidence.age >= maxStale else { return }
        // Whoever was not asked since the start is not silent yet: a host that was off for long must
        // not begin by closing a service whose source is there.
        guard evidence.isAnswered || !circumstances.isWaiting else { return }
        opinion.isStale = true
        // An accepted end outranks when_stale: no silence of the source takes it back.
        if case .endPassed = opinion.reason, opinion.gate == .closed { return }
        opinion.reason = .stale(evidence.source, policy.whenStale)
        switch (policy.whenStale, opinion.gate) {
        case (.hold, _), (.open, .open), (.closed, .closed):
            break
        case (.open, .closed):
            opinion.replaceState(.running, .open)
        case (.closed, .open):
            opinion.replaceState(.maintenance, .closed)
        }
    }
}

extension Opinion {
    /// Takes another state by policy: what the flags said to users no longer fits.
    fileprivate mutating func replaceState(_ state: State, _ gate: Gate) {
        self.state = state
        self.gate = gate
        title = nil
        message = nil
        retryAfter = nil
    }
}

extension Reason {
    /// Whether an invalid newest answer is the more important thing to say.
    fileprivate var yieldsToDoubt: Bool {
        switch self {
        case .flags, .storedFlags, .endUnreadable: true
        case .starting, .awaitingFirstAnswer, .invalidAnswer, .endPassed, .stale, .unknown,
            .clockNotBelieved, .minClosed:
            false
        }
    }
}
