package import CivilTime

/// How the fetches of a source have ended, each counted since `since`. A restart of the daemon begins anew.
package struct FetchCounts: Hashable, Sendable {
    package let since: Boottime
    /// Fetches that brought other flags than the fetch before.
    var changed = 0
    /// Fetches that confirmed the flags.
    var unchanged = 0
    private var unreachable = 0
    private var refused = 0
    /// Answers that hold no flags, or that no service can read.
    package internal(set) var invalid = 0

    /// Nothing was counted before `moment`.
    init(since moment: Boottime) { since = moment }

    /// How many fetches have ended in each way, with the word for it.
    package var byResult: [(word: String, count: Int)] {
        [
            ("changed", changed), ("unchanged", unchanged), ("unreachable", unreachable),
            ("refused", refused), ("invalid", invalid),
        ]
    }

    /// Counts a failed fetch.
    mutating func count(_ failure: Failure) {
        switch failure.kind {
        case .unreachable: unreachable += 1
        case .refused: refused += 1
        case .invalid: invalid += 1
        }
    }
}
