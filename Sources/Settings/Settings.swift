package import Decision

/// A configuration that can be run: every name is known, every value is in its range.
package struct Settings: Hashable, Sendable {
    /// Those with a table, in its order, then those that addresses imply.
    package var sources: [Source]
    /// In the order of their tables; at least one.
    package var services: [Service]
    /// How many services may close for one cause; nil is any number.
    package var closeAtOnce: Int?
    /// What works, but not as its author may think; in the order of files and places.
    package var warnings: [Diagnostic]
    /// Every setting in force, defaults included: the sources, then the services.
    package var effective: [EffectiveSetting]

    /// What the decision needs of it.
    package var plan: Plan {
        Plan(
            sources: sources.map {
                SourcePlan(
                    name: $0.name, interval: $0.interval, timeout: $0.timeout,
                    defaults: $0.defaults)
            },
            services: services, closeAtOnce: closeAtOnce)
    }
}
