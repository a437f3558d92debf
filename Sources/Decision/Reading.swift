package import CivilTime

/// What one switch's flags say, whatever the time is.
///
/// A reading may claim several things at once (an update is required *and* the service is under
/// maintenance); which of them counts is the policy's to say.
package struct Reading: Hashable, Sendable {
    /// At least one.
    package var claims: [Claim]
    package var title: String?
    package var message: String?
    /// How soon the source wants to be asked again while the gate is closed.
    package var retryAfter: Duration?

    package init(
        claims: [Claim], title: String? = nil, message: String? = nil, retryAfter: Duration? = nil
    ) {
        self.claims = claims
        self.title = title
        self.message = message
        self.retryAfter = retryAfter
    }
}

/// One thing that flags claim about a service.
package enum Claim: Hashable, Sendable {
    case running
    case countdown(End)
    case maintenance
    case updateRequired
    case ended
}

/// The announced end of a service.
package enum End: Hashable, Sendable {
    case at(Instant)
    /// Announced by a text that is no date: the days are unknown.
    case unreadable(String)
}
