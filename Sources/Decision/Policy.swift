/// A service's settings for missing or old flags, confirmation, ends and updates.
package struct Policy: Hashable, Sendable {
    /// The age at which flags become stale; nil is never.
    package var maxStale: Duration?
    package var whenStale: WhenStale
    /// The gate if no flags were ever fetched and `firstTimeout` is over.
    package var whenUnknown: Gate
    /// How long a service waits for the first answer after a start.
    package var firstTimeout: Duration
    package var atEnd: AtEnd
    /// The gate in the state `update-required`: `open` makes it a warning.
    package var updateRequired: Gate
    /// How long a closed gate stays closed at least.
    package var minClosed: Duration
    /// Over how long the hosts open the gate, once flags have: each waits its part.
    package var openSpread: Duration
    /// Whether a host also waits its part after a boot.
    package var spreadsAtBoot: Bool
    /// How long units run on after the gate has closed, so that load balancers turn away first.
    package var drain: Duration
    /// How many answers in a row have to agree before flags close the gate; 1 or more.
    package var confirmClose: Int
    /// How many answers in a row have to agree before flags open the gate; 1 or more.
    package var confirmOpen: Int
    /// How many people must have signed flags that close the gate; 1 or more.
    package var signaturesToClose: Int
    /// How many people must have signed flags that open the gate; 1 or more.
    package var signaturesToOpen: Int

    /// How many people must have signed what closes and opens the gate.
    var mostSignatures: Int { max(signaturesToClose, signaturesToOpen) }

    /// The defaults of the configuration, unless told otherwise.
    package init(
        maxStale: Duration? = nil, whenStale: WhenStale = .hold, whenUnknown: Gate = .open,
        firstTimeout: Duration = .seconds(30), atEnd: AtEnd = .ended,
        updateRequired: Gate = .closed, minClosed: Duration = .seconds(5),
        openSpread: Duration = .zero, spreadsAtBoot: Bool = false, drain: Duration = .zero,
        confirmClose: Int = 1, confirmOpen: Int = 1,
        signaturesToClose: Int = 1, signaturesToOpen: Int = 1
    ) {
        self.maxStale = maxStale
        self.whenStale = whenStale
        self.whenUnknown = whenUnknown
        self.firstTimeout = firstTimeout
        self.atEnd = atEnd
        self.updateRequired = updateRequired
        self.minClosed = minClosed
        self.openSpread = openSpread
        self.spreadsAtBoot = spreadsAtBoot
        self.drain = drain
        self.confirmClose = confirmClose
        self.confirmOpen = confirmOpen
        self.signaturesToClose = signaturesToClose
        self.signaturesToOpen = signaturesToOpen
    }

    /// The gate in `state`; nil while undecided.
    package func gate(of state: State) -> Gate? {
        switch state {
        case .undecided: nil
        case .running, .countdown: .open
        case .updateRequired: updateRequired
        case .maintenance, .ended: .closed
        }
    }
}

/// The effect of stale flags.
package enum WhenStale: String, CaseIterable, Sendable {
    /// They stay in force.
    case hold
    case open
    case closed
    /// The service has ended: for flags whose server goes away together with the service.
    case ended

    /// The gate that it asks for; nil for `hold`.
    var gate: Gate? { self == .ended ? .closed : Gate(rawValue: rawValue) }
}

/// The state of a countdown after its end.
package enum AtEnd: String, CaseIterable, Sendable {
    case ended
    /// It stays a countdown, with no days left.
    case keep
}
