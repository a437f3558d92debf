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

extension Service {
    /// No record stands longer than this, and the minute after it, without being looked at again.
    private static let longestDay: Duration = .seconds(26 * 3600 - 120)

    /// The next instant at which time alone may change the verdict's facts: the earliest end, the
    /// edge of a window, the next midnight of the zone, the moment at which flags turn stale or an
    /// override expires.
    ///
    /// There always is one, for midnight always comes; `state.json` is valid until a minute past it.
    func nextEdge(of evidence: [Evidence], in circumstances: Circumstances, at now: Now) -> Instant
    {
        // A day is as long as 27 hours where a zone moved westwards (Antarctica/Casey, 2010).
        var edge = min(zone.startOfNextDay(after: now.wall), now.wall + Self.longestDay)
        for item in evidence {
            for instant in item.reading?.edges ?? []
            where instant > circumstances.time && instant > now.wall {
                edge = min(edge, instant)
            }
            if let left = timeUntilStale(item) {
                edge = min(edge, now.wall + left)
            }
        }
        if let override = circumstances.standingOverride, override.until > now.wall {
            edge = min(edge, override.until)
        }
        return edge
    }

    /// Whether these flags do not count for ever.
    func canTurnStale(_ evidence: Evidence) -> Bool {
        policy.maxStale != nil || evidence.reading?.expires != nil
    }

    /// How long these flags still count; nil when they always do, or no longer do.
    func timeUntilStale(_ evidence: Evidence) -> Duration? {
        guard let maxStale = policy.maxStale, evidence.reading != nil, evidence.age < maxStale
        else { return nil }
        return maxStale - evidence.age
    }
}

extension Reading {
    /// When what it says changes by time alone.
    fileprivate var edges: [Instant] {
        var edges = expires.map { [$0] } ?? []
        for claim in claims {
            switch claim {
            case .countdown(.at(let end)): edges.append(end)
            case .window(let window): edges += [window.from, window.until]
            case .countdown(.unreadable), .countdown(.untold), .running, .maintenance,
                .updateRequired, .ended, .minimumVersion:
                break
            }
        }
        return edges
    }
}
