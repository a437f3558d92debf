import CivilTime

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
