/// What a service does when its flags do not come, or come too fast.
package struct Policy: Hashable, Sendable {
    /// The age at which the last good flags stop counting; nil is never.
    package var maxStale: Duration?
    package var whenStale: WhenStale
    /// What holds when no flags were ever fetched and `firstTimeout` is over.
    package var whenUnknown: Gate
    /// How long the first answer is waited for after a start.
    package var firstTimeout: Duration
    package var atEnd: AtEnd
    /// What `update-required` means for the gate: `closed`, or `open` where it is a warning only.
    package var updateRequired: Gate
    /// A gate that closed reopens no sooner.
    package var minClosed: Duration
    /// How many answers in a row have to agree before flags close, or open, the gate.
    package var confirmClose: Int
    /// As above.
    package var confirmOpen: Int

    package init(
        maxStale: Duration? = nil, whenStale: WhenStale = .hold, whenUnknown: Gate = .open,
        firstTimeout: Duration = .seconds(30), atEnd: AtEnd = .ended,
        updateRequired: Gate = .closed, minClosed: Duration = .seconds(5),
        confirmClose: Int = 1, confirmOpen: Int = 1
    ) {
        self.maxStale = maxStale
        self.whenStale = whenStale
        self.whenUnknown = whenUnknown
        self.firstTimeout = firstTimeout
        self.atEnd = atEnd
        self.updateRequired = updateRequired
        self.minClosed = minClosed
        self.confirmClose = confirmClose
        self.confirmOpen = confirmOpen
    }
}

extension Policy {
    /// Whether units may run in `state`; nil while undecided.
    package func gate(of state: State) -> Gate? {
        switch state {
        case .undecided: nil
        case .running, .countdown: .open
        case .updateRequired: updateRequired
        case .maintenance, .ended: .closed
        }
    }
}

/// What flags older than `max_stale` are worth.
package enum WhenStale: String, CaseIterable, Sendable {
    case hold
    case open
    case closed
}

/// What a countdown becomes when its end passes.
package enum AtEnd: String, CaseIterable, Sendable {
    case ended
    /// It stays a countdown, with no days left.
    case keep
}
