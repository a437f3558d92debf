package import Decision
package import RemoteFlags

/// Another configuration with its sources.
package struct Reconfiguration {
    let plan: Plan
    let sources: [any FlagSource]
    let remember: (any FlagSource) -> Memory.StoredFlags?

    /// `sources` are all sources of the plan; an unchanged source is the same object as before. The
    /// agent stops removed sources on `Effect.unfollow`. `remember` returns the stored flags of a
    /// new source.
    package init(
        _ plan: Plan, sources: [any FlagSource],
        remember: @escaping (any FlagSource) -> Memory.StoredFlags?
    ) {
        self.plan = plan
        self.sources = sources
        self.remember = remember
    }
}
