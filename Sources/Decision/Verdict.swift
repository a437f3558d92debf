package import CivilTime
package import JSON

/// The outcome for one service: facts alone, so that two verdicts are equal when nobody needs to be
/// told anything.
package struct Verdict: Hashable, Sendable {
    package var state: State
    /// Nil while undecided.
    package var gate: Gate?
    package var reason: Reason
    package var endsAt: Instant?
    /// Calendar days from today to the end's day in the service's zone, never negative.
    package var daysLeft: Int?
    package var title: String?
    package var message: String?
    package var retryAfter: Duration?
    /// Where the flags that decided came from; nil when none did.
    package var source: SourceName?
    package var version: String?
    /// Whether those flags are older than `max_stale`, or have expired.
    package var isStale: Bool
    /// The operator's order that stands before the flags.
    package var override: Override?
    package var variant: String?
    /// The remote values by name, in the order of the configuration. One that is not known is null.
    package var values: JSON.Object

    package init(
        state: State, gate: Gate?, reason: Reason, endsAt: Instant? = nil, daysLeft: Int? = nil,
        title: String? = nil, message: String? = nil, retryAfter: Duration? = nil,
        source: SourceName? = nil, version: String? = nil, isStale: Bool = false,
        override: Override? = nil, variant: String? = nil, values: JSON.Object = JSON.Object()
    ) {
        self.state = state
        self.gate = gate
        self.reason = reason
        self.endsAt = endsAt
        self.daysLeft = daysLeft
        self.title = title
        self.message = message
        self.retryAfter = retryAfter
        self.source = source
        self.version = version
        self.isStale = isStale
        self.override = override
        self.variant = variant
        self.values = values
    }

    /// The verdict before there is any.
    package static func undecided(_ reason: Reason) -> Self {
        Verdict(state: .undecided, gate: nil, reason: reason)
    }
}
