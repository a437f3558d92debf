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

/// What a service is in. The raw value is the word in state.json, in the journal and on command lines.
package enum State: String, CaseIterable, Sendable {
    case undecided
    case running
    case countdown
    case maintenance
    case updateRequired = "update-required"
    case ended
}

extension State {
    /// How much the state takes away: `ended` most. Of several switches the most restrictive wins.
    package var restrictiveness: Int {
        switch self {
        case .undecided: 0
        case .running: 1
        case .countdown: 2
        case .maintenance: 3
        case .updateRequired: 4
        case .ended: 5
        }
    }
}

/// What a verdict means for units. An undecided service has no gate: nothing is moved for it.
package enum Gate: String, CaseIterable, Sendable {
    case open
    case closed
}

/// An operator's local verdict: it stands before everything that flags say, until it expires or is
/// released.
package struct Override: Hashable, Sendable {
    /// Never `undecided`.
    package let state: State
    /// Why, in the operator's words.
    package let cause: String
    /// Who, as the command line tells it: a user's name.
    package let author: String
    package let since: Instant
    package let until: Instant

    /// Nil for the state `undecided`: nobody can order not to know.
    package init?(state: State, cause: String, author: String, since: Instant, until: Instant) {
        guard state != .undecided else { return nil }
        self.state = state
        self.cause = cause
        self.author = author
        self.since = since
        self.until = until
    }

    /// Whether it was given for this cause, to the byte.
    package func isGiven(for cause: String) -> Bool {
        self.cause.utf8.elementsEqual(cause.utf8)
    }
}

/// A verdict as it is published: the facts, and since when and for how long they stand.
package struct Record: Hashable, Sendable {
    package var verdict: Verdict
    /// When the present state began.
    package var since: Instant
    /// How many changes of state there were, over restarts and reboots.
    package var generation: Int
    package var decidedAt: Instant
    /// When the flags that decided were fetched.
    package var fetchedAt: Instant?
    /// When time alone may next change the facts.
    package var nextEdge: Instant

    package init(
        verdict: Verdict, since: Instant, generation: Int, decidedAt: Instant,
        fetchedAt: Instant? = nil, nextEdge: Instant
    ) {
        self.verdict = verdict
        self.since = since
        self.generation = generation
        self.decidedAt = decidedAt
        self.fetchedAt = fetchedAt
        self.nextEdge = nextEdge
    }

    /// A minute past the next edge: if the record still stands then, no daemon is there any more.
    package var validUntil: Instant { nextEdge + .seconds(60) }
}
