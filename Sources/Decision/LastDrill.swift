package import CivilTime

/// How a drill of a service ended.
package struct DrillResult: Hashable, Sendable {
    /// When it ended.
    package let at: Instant
    /// Why it has failed, as a clause; nil if it succeeded.
    package let problem: String?

    /// A drill that ended at this time.
    package init(at time: Instant, problem: String?) {
        at = time
        self.problem = problem
    }

    /// Whether it succeeded.
    package var isGood: Bool { problem == nil }
}

/// The last drill of a service, and the last successful one. It is kept over restarts and reboots.
package struct LastDrill: Hashable, Sendable {
    /// The last one.
    package let result: DrillResult
    /// When the last successful drill ended; nil if none ever did.
    package let lastGood: Instant?

    /// As it was stored.
    package init(_ result: DrillResult, lastGood: Instant?) {
        self.result = result
        self.lastGood = lastGood
    }
}

extension Ledger.Entry {
    /// Records the result of one more drill.
    mutating func record(_ result: DrillResult) {
        drill = LastDrill(result, lastGood: result.isGood ? result.at : drill?.lastGood)
    }
}
