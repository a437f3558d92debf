import CivilTime

extension Service {
    /// The verdict for this evidence, in the order of `switches`: the most restrictive opinion wins.
    ///
    /// An operator's override stands before all of them.
    ///
    /// Pure: the same input gives the same verdict. What is known to close, closes at once; what
    /// would open waits for switches that were not heard of yet.
    package func decide(_ evidence: [Evidence], in circumstances: Circumstances) -> Verdict {
        if let override = circumstances.standingOverride { return verdict(of: override) }
        let opinions = evidence.map { ($0, opinion(of: $0, in: circumstances)) }
        guard var decisive = mostRestrictive(opinions.compactMap(\.1)) else {
            return .undecided(.starting)
        }
        decisive.takeTrouble(from: opinions.compactMap(\.1))
        if decisive.gate == .open {
            for (evidence, opinion) in opinions {
                guard opinion != nil else { return .undecided(.starting) }
                if mustBeAsked(evidence, circumstances) {
                    return .undecided(.awaitingFirstAnswer(evidence.source))
                }
            }
        }
        return verdict(decisive, in: circumstances)
    }

    /// Stored flags of an earlier boot open nothing before their source was asked, so that nothing
    /// is started only to be killed.
    private func mustBeAsked(_ evidence: Evidence, _ circumstances: Circumstances) -> Bool {
        circumstances.isWaiting && !circumstances.isSameBoot && !evidence.isAnswered
    }

    private func verdict(_ opinion: Opinion, in circumstances: Circumstances) -> Verdict {
        Verdict(
            state: opinion.state, gate: opinion.gate, reason: opinion.reason,
            endsAt: opinion.endsAt, daysLeft: daysLeft(to: opinion.deadline, in: circumstances),
            title: opinion.title, message: opinion.message, retryAfter: opinion.retryAfter,
            source: opinion.source, version: opinion.version, isStale: opinion.isStale)
    }

    private func verdict(of override: Override) -> Verdict {
        Verdict(
            state: override.state, gate: policy.gate(of: override.state),
            reason: .overridden(override, until: zone.rfc3339(override.until)), override: override)
    }

    /// Unknown without an end, and with a clock that is not believed: no number beats a wrong one.
    private func daysLeft(to end: Instant?, in circumstances: Circumstances) -> Int? {
        guard let end else { return nil }
        if circumstances.time >= end { return 0 }
        guard circumstances.isClockBelieved else { return nil }
        return zone.calendarDays(from: circumstances.time, to: end)
    }
}
