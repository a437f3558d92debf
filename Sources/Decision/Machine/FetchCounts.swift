package import CivilTime

/// How the fetches of a source have ended, each counted since `since`. A restart of the daemon begins anew.
package struct FetchCounts: Hashable, Sendable {
    /// How a fetch ends.
    package enum Result: Int, CaseIterable, Sendable {
        /// It brought other flags than the fetch before.
        case changed
        /// It confirmed the flags.
        case unchanged
        /// No answer came, or only a part of one.
        case unreachable
        /// The source denies access.
        case refused
        /// The answer holds no flags, or no service can read them.
        case invalid

        /// The word for it.
        package var word: String {
            switch self {
            case .changed: "changed"
            case .unchanged: "unchanged"
            case .unreachable: "unreachable"
            case .refused: "refused"
            case .invalid: "invalid"
            }
        }
    }

    /// When counting began.
    package let since: Boottime
    private var counts = [Int](repeating: 0, count: Result.allCases.count)

    /// Nothing was counted before `moment`.
    init(since moment: Boottime) { since = moment }

    /// How many fetches have ended so.
    package subscript(result: Result) -> Int { counts[result.rawValue] }

    /// Counts a fetch.
    mutating func count(_ result: Result) { counts[result.rawValue] += 1 }

    /// Counts a failed fetch.
    mutating func count(_ failure: Failure) {
        switch failure.kind {
        case .unreachable: count(.unreachable)
        case .refused: count(.refused)
        case .invalid: count(.invalid)
        }
    }
}
