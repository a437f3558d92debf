package import CivilTime
package import JSON

/// The outcome for one service. It holds facts alone: if two verdicts are equal, there is nothing
/// to publish.
package struct Verdict: Hashable, Sendable {
    package var state: State
    /// Nil while undecided.
    package var gate: Gate?
    package var reason: Reason
    /// The announced end of a countdown or of an ended service.
    package var endsAt: Instant?
    /// Calendar days from today to the end's day in the service's zone, never negative.
    package var daysLeft: Int?
    package var texts = Texts()
    /// The wait between two polls that the flags ask for.
    package var retryAfter: Duration?
    /// The source of the flags that decided; nil if none did.
    package var source: SourceName?
    /// The version of those flags.
    package var version: String?
    /// Who signed those flags, or gave the order in force.
    package var authors: [String] = []
    /// Whether those flags are older than `max_stale`, have expired, or are unproved.
    package var isStale = false
    /// Whether it closes the gate in an emergency: units stop at once, without the service's drain.
    package var isUrgent = false
    /// Whether it is made true; false for a service that is only observed.
    package var isEnforced = true
    /// The override in force.
    package var override: Override?
    package var variant: String?
    /// The remote values by name, in the order of the configuration. An unknown value is null.
    package var values = JSON.Object()
}

extension Verdict {
    /// A verdict without an end, texts or values.
    package init(state: State, gate: Gate?, reason: Reason) {
        self.state = state
        self.gate = gate
        self.reason = reason
    }

    /// The verdict of a service that is not decided yet.
    package static func undecided(_ reason: Reason) -> Self {
        Verdict(state: .undecided, gate: nil, reason: reason)
    }
}

/// The state of a service. The raw value is its word in state.json, in the journal and on command
/// lines.
package enum State: String, CaseIterable, Sendable {
    case undecided
    case running
    case countdown
    case maintenance
    case updateRequired = "update-required"
    case ended

    /// The rank of the state: the highest wins among several switches.
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

/// The consequence of a state for units. An undecided service has no gate.
package enum Gate: String, CaseIterable, Sendable {
    case open
    case closed
}

extension Gate {
    /// What a gate would do that is not moved, because its service is only observed.
    package var ifEnforced: String { self == .open ? "would open" : "would close" }

    /// The state of a service whose gate the policy sets without flags.
    var defaultState: State { self == .open ? .running : .maintenance }
}

/// An operator's local verdict: it comes before all flags until it expires or is released.
package struct Override: Hashable, Sendable {
    /// Never `undecided`.
    package let state: State
    /// The author's words for the order.
    package let cause: String
    /// Who gave the order: user name and user ID.
    package let author: String
    package let since: Instant
    /// The end of the override, excluded; nil for one that stands until somebody releases it.
    package let until: Instant?
    /// Whether units stop at once, without the service's drain.
    package let isUrgent: Bool
    /// Whether it rehearses a closing: what opens the gate after it does not wait for a turn.
    package let isDrill: Bool

    /// Nil for the state `undecided`, which nobody can order.
    package init?(
        state: State, cause: String, author: String, since: Instant, until: Instant?,
        isUrgent: Bool = false, isDrill: Bool = false
    ) {
        guard state != .undecided else { return nil }
        self.state = state
        self.cause = cause
        self.author = author
        self.since = since
        self.until = until
        self.isUrgent = isUrgent
        self.isDrill = isDrill
    }

    /// Whether its end has come at `time`.
    func hasEnded(at time: Instant) -> Bool { until.map { $0 <= time } ?? false }

    /// Whether it was given for this cause, compared by bytes.
    package func isGiven(for cause: String) -> Bool { self.cause.isSame(as: cause) }
}

/// A verdict as it is published: with since, generation and the next edge.
package struct PublishedVerdict: Hashable, Sendable {
    package var verdict: Verdict
    /// When the present state began.
    package var since: Instant
    /// The number of changes of state, kept over reboots.
    package var generation: Int
    /// When the verdict was decided.
    package var decidedAt: Instant
    /// When the flags that decided were fetched; nil if none did.
    package var fetchedAt: Instant?
    /// When time alone may next change the verdict.
    package var nextEdge: Instant
    /// The planned window that comes next, whatever the state is.
    package var nextWindow: Window?
    /// The notices that were told last, for units that pass them on.
    package var notices: [PublicNotice] = []
    /// Until when units may run on after the gate has closed; nil if they stop at once. By the boot clock: no step of
    /// the wall clock moves it.
    package var drainsUntil: Boottime?

    /// A minute after the next edge. A record that is still there later has no daemon.
    package var validUntil: Instant { nextEdge + .seconds(60) }
}

extension PublishedVerdict {
    /// The record of a verdict that was decided at `decidedAt` and rests on no flags.
    package init(
        verdict: Verdict, since: Instant, generation: Int, decidedAt: Instant, nextEdge: Instant
    ) {
        self.verdict = verdict
        self.since = since
        self.generation = generation
        self.decidedAt = decidedAt
        self.nextEdge = nextEdge
    }
}
