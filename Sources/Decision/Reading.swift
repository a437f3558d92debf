package import CivilTime

/// The claims of one answer by one format, without regard to time.
///
/// A reading may make several claims at once (an update is required *and* the service is under
/// maintenance); the policy decides which of them counts.
package struct Reading: Hashable, Sendable {
    /// At least one of them has an effect at every time.
    package var claims: [Claim]
    package var title: String?
    package var message: String?
    /// The wait between two polls that the flags ask for while the gate is closed.
    package var retryAfter: Duration?
    /// The `version` in the flags. It never goes backwards.
    package var version: Int64?
    /// When the flags become stale, whatever their age.
    package var expires: Instant?
}

extension Reading {
    /// A reading of `claims` without texts.
    package init(claims: [Claim], expires: Instant? = nil) {
        self.claims = claims
        self.expires = expires
    }

    /// The planned window that begins first after `time`.
    package func nextWindow(after time: Instant) -> Window? {
        let windows = claims.compactMap { claim in
            if case .window(let window) = claim, window.from > time { window } else { nil }
        }
        return windows.min { $0.from < $1.from }
    }
}

/// One statement of a reading about a service.
package enum Claim: Hashable, Sendable {
    case running
    case countdown(End)
    case maintenance
    case updateRequired
    case ended
    /// Maintenance while the window is open, nothing before and after.
    case window(Window)
    /// An update is required if the installed version is older.
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
    package var title: String?
    package var message: String?
}

extension Window {
    /// A window without texts; `from` has to be before `until`.
    package init(from: Instant, until: Instant) {
        self.from = from
        self.until = until
    }

    /// Whether the window is open at `time`.
    package func contains(_ time: Instant) -> Bool { from <= time && time < until }
}
