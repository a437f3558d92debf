import CivilTime

extension Service {
    /// No record stands longer than this, and the minute after it, without being looked at again.
    private static let longestDay: Duration = .seconds(26 * 3600 - 120)

    /// The next instant at which time alone may change the verdict's facts: the earliest end, the
    /// next midnight of the zone, the moment at which flags turn stale.
    ///
    /// There always is one, for midnight always comes; `state.json` is valid until a minute past it.
    func nextEdge(of evidence: [Evidence], in circumstances: Circumstances, at now: Now) -> Instant
    {
        // A day is as long as 27 hours where a zone moved westwards (Antarctica/Casey, 2010).
        var edge = min(zone.startOfNextDay(after: now.wall), now.wall + Self.longestDay)
        for item in evidence {
            for case .countdown(.at(let end)) in item.reading?.claims ?? []
            where end > circumstances.time && end > now.wall {
                edge = min(edge, end)
            }
            if let left = timeUntilStale(item) {
                edge = min(edge, now.wall + left)
            }
        }
        return edge
    }

    /// How long these flags still count; nil when they always do, or no longer do.
    func timeUntilStale(_ evidence: Evidence) -> Duration? {
        guard let maxStale = policy.maxStale, evidence.reading != nil, evidence.age < maxStale
        else { return nil }
        return maxStale - evidence.age
    }
}
