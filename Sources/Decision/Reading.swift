package import CivilTime

/// What one switch's flags say, whatever the time is.
///
/// A reading may claim several things at once (an update is required *and* the service is under
/// maintenance); which of them counts is the policy's to say.
package struct Reading: Hashable, Sendable {
    /// At least one that says something at every time.
    package var claims: [Claim]
    package var title: String?
    package var message: String?
    /// How soon the source wants to be asked again while the gate is closed.
    package var retryAfter: Duration?
    /// The flags' own count of their editions. It never goes backwards.
    package var version: Int64?
    /// From then on the flags are stale.
    package var expires: Instant?

    package init(
        claims: [Claim], title: String? = nil, message: String? = nil,
        retryAfter: Duration? = nil, version: Int64? = nil, expires: Instant? = nil
    ) {
        self.claims = claims
        self.title = title
        self.message = message
        self.retryAfter = retryAfter
        self.version = version
        self.expires = expires
    }

    /// The planned window that begins first after `time`.
    package func nextWindow(after time: Instant) -> Window? {
        var next: Window?
        for case .window(let window) in claims where window.from > time {
            if next.map({ window.from < $0.from }) ?? true { next = window }
        }
        return next
    }
}

/// One thing that flags claim about a service.
package enum Claim: Hashable, Sendable {
    case running
    case countdown(End)
    case maintenance
    case updateRequired
    case ended
    /// Maintenance while the window is open, nothing before and after.
    case window(Window)
    /// An update is required where the installed version is older.
    case minimumVersion(Version)
}

/// The announced end of a service.
package enum End: Hashable, Sendable {
    case at(Instant)
    /// Announced by a text that is no date: the days are unknown.
    case unreadable(String)
    /// Announced without a date.
    case untold
}

/// Maintenance that is planned ahead. It begins and ends on time, without the network.
package struct Window: Hashable, Sendable {
    package let from: Instant
    /// After `from`. The window does not include it.
    package let until: Instant
    package let title: String?
    package let message: String?

    package init(from: Instant, until: Instant, title: String? = nil, message: String? = nil) {
        self.from = from
        self.until = until
        self.title = title
        self.message = message
    }

    package func contains(_ time: Instant) -> Bool { from <= time && time < until }
}
