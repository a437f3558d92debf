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
        let opinions = evidence.map { opinion(of: $0, in: circumstances) }
        guard let decisive = mostRestrictive(opinions) else { return .undecided(.starting) }
        if opinions[decisive]?.gate == .open {
            for (evidence, opinion) in zip(evidence, opinions) {
                guard opinion != nil else { return .undecided(.starting) }
                if mustBeAsked(evidence, circumstances) {
                    return .undecided(.awaitingFirstAnswer(evidence.source))
                }
            }
        }
        return verdict(at: decisive, of: opinions, in: circumstances)
    }

    /// The position of the one that counts, of equals the first configured; nil where there is none.
    /// By position, as opinions are large and every answer asks for many.
    func mostRestrictive(_ opinions: [Opinion?]) -> Int? {
        var best: Int?
        for index in opinions.indices {
            guard let opinion = opinions[index] else { continue }
            if let before = best, let known = opinions[before], !opinion.outranks(known) {
                continue
            }
            best = index
        }
        return best
    }

    /// Stored flags of an earlier boot open nothing before their source was asked, so that nothing
    /// is started only to be killed.
    private func mustBeAsked(_ evidence: Evidence, _ circumstances: Circumstances) -> Bool {
        evidence.isAwaited && !circumstances.isSameBoot
    }

    private func verdict(
        at decisive: Int, of opinions: [Opinion?], in circumstances: Circumstances
    ) -> Verdict {
        guard var opinion = opinions[decisive] else { return .undecided(.starting) }
        opinion.takeTrouble(from: opinions)
        return Verdict(
            state: opinion.state, gate: opinion.gate, reason: opinion.reason,
            endsAt: opinion.endsAt, daysLeft: daysLeft(to: opinion.deadline, in: circumstances),
            title: opinion.title, message: opinion.message, retryAfter: opinion.retryAfter,
            source: opinion.source, version: opinion.version, isStale: opinion.isStale)
    }

    private func verdict(of override: Override) -> Verdict {
        Verdict(
            state: override.state, gate: policy.gate(of: override.state),
            reason: .overridden(override, until: zone.zoned(override.until)), override: override)
    }

    /// Unknown without an end, and with a clock that is not believed: no number beats a wrong one.
    private func daysLeft(to end: Instant?, in circumstances: Circumstances) -> Int? {
        guard let end else { return nil }
        if circumstances.time >= end { return 0 }
        guard circumstances.isClockBelieved else { return nil }
        return zone.calendarDays(from: circumstances.time, to: end)
    }
}
