import CivilTime

extension Service {
    /// The verdict for this evidence, in the order of `switches`: the most restrictive opinion
    /// wins, and an override in force comes before all opinions.
    ///
    /// Pure: the same input gives the same verdict. A closed gate needs one switch; an open gate
    /// waits for every switch that has no flags yet.
    package func decide(_ evidence: [Evidence], in circumstances: Circumstances) -> Verdict {
        if let override = circumstances.overrideInForce {
            let gate = policy.gate(of: override.state)
            return Verdict(
                state: override.state, gate: gate,
                reason: .overridden(override, until: override.until.map(zone.zoned)),
                authors: [override.author], isUrgent: override.isUrgent && gate == .closed,
                override: override)
        }
        let opinions = evidence.map { opinion(of: $0, in: circumstances) }
        guard let decisive = mostRestrictive(opinions), var opinion = opinions[decisive] else {
            return .undecided(.starting)
        }
        if opinion.gate == .open {
            for position in opinions.indices {
                guard opinions[position] != nil else { return .undecided(.starting) }
                // Stored flags of an earlier boot must not start a unit that the first answer stops
                // again.
                if evidence[position].isAwaited, !circumstances.isSameBoot {
                    return .undecided(.awaitingFirstAnswer(evidence[position].source))
                }
            }
        }
        opinion.adoptDegradedReason(from: opinions)
        return Verdict(
            state: opinion.state, gate: opinion.gate, reason: opinion.reason,
            endsAt: opinion.endsAt,
            daysLeft: daysLeft(to: opinion.deadline, evidence[decisive], in: circumstances),
            texts: opinion.texts, retryAfter: opinion.retryAfter,
            source: opinion.source, version: opinion.version, authors: opinion.authors,
            isStale: opinion.isStale,
            isUrgent: opinion.gate == .closed && opinions.contains { $0?.isUrgent ?? false })
    }

    /// The position of the most restrictive opinion, of equals the first; nil without an opinion. A
    /// position, because copies of opinions would cost more than the comparison.
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

    /// Calendar days to `end`; nil without an end, or before it if no clock is believed or the zone is not known.
    private func daysLeft(
        to end: Instant?, _ evidence: Evidence, in circumstances: Circumstances
    ) -> Int? {
        guard let end else { return nil }
        let time = evidence.time(in: circumstances)
        if time >= end { return 0 }
        guard !evidence.isHeld, zone.isKnown else { return nil }
        return zone.calendarDays(from: time, to: end)
    }

    /// The longest time to the next edge. With the minute after it, a record is valid for less than
    /// 26 hours.
    private static let longestDay: Duration = .seconds(26 * 3600 - 120)

    /// The next instant at which time alone may change the verdict: the earliest end, the edge of a
    /// window, the next midnight of the zone, the moment at which flags become stale or an override
    /// expires. `state.json` is valid until a minute after it.
    func nextEdge(of evidence: [Evidence], in circumstances: Circumstances, at now: Now) -> Instant
    {
        // A day is as long as 27 hours where a zone moved westwards (Antarctica/Casey, 2010).
        var edge = min(zone.startOfNextDay(after: now.wall), now.wall + Self.longestDay)
        for item in evidence {
            let time = max(now.wall, item.time(in: circumstances))
            let include = { (instant: Instant) in if instant > time { edge = min(edge, instant) } }
            item.reading?.forEachGateEdge(include)
            if let expires = item.reading?.expires { include(expires) }
            if let left = timeUntilStale(item) { edge = min(edge, now.wall + left) }
        }
        if let end = circumstances.overrideInForce?.until, end > now.wall { edge = min(edge, end) }
        return edge
    }

    /// Whether these flags can become stale.
    func canTurnStale(_ evidence: Evidence) -> Bool {
        policy.maxStale != nil || evidence.reading?.expires != nil
    }

    /// The time until these flags are older than `max_stale`; nil without that limit or past it.
    func timeUntilStale(_ evidence: Evidence) -> Duration? {
        guard let maxStale = policy.maxStale, evidence.reading != nil, evidence.age < maxStale
        else { return nil }
        return maxStale - evidence.age
    }
}
