package import CivilTime

/// The claims of one answer by one format, without regard to time.
///
/// A reading may make several claims at once (an update is required *and* the service is under
/// maintenance); the policy decides which of them counts.
package struct Reading: Hashable, Sendable {
    /// At least one of them has an effect at every time.
    package var claims: [Claim]
    package var texts = Texts()
    /// The wait between two polls that the flags ask for while the gate is closed.
    package var retryAfter: Duration?
    /// The `version` in the flags. It never goes backwards.
    package var version: Int64?
    /// When the flags become stale, whatever their age.
    package var expires: Instant?
    /// Whether units stop at once where the policy has a drain: an emergency.
    package var isUrgent = false
    /// The steps by which it closes more and more hosts; nil if it closes all at once.
    package var rollout: Rollout?
    /// What was forgiven in flags that decorate, each a clause of a warning: see `Leniency`.
    package var leniencies: [String] = []
}

extension Reading {
    /// A reading of `claims` without texts.
    package init(claims: [Claim], expires: Instant? = nil, rollout: Rollout? = nil) {
        self.claims = claims
        self.expires = expires
        self.rollout = rollout
    }

    /// Calls `body` for each time at which time alone may move the gate: its ends, windows and steps. Without an
    /// array: a decision asks each time.
    package func forEachGateEdge(_ body: (Instant) -> Void) {
        for step in rollout?.steps ?? [] { body(step.at) }
        for claim in claims {
            switch claim {
            case .countdown(.at(let end)): body(end)
            case .countdown(.within(let range)): body(range.upperBound)
            case .window(let window):
                body(window.from)
                body(window.until)
            case .countdown(.unreadable), .countdown(.unlogged), .running, .maintenance,
                .updateRequired, .ended, .minimumVersion:
                break
            }
        }
    }

    /// The last time until `time` at which time alone may have moved the gate, or made the flags stale; nil without.
    func lastEdge(until time: Instant) -> Instant? {
        var last = expires.flatMap { $0 <= time ? $0 : nil }
        forEachGateEdge { edge in
            if edge <= time { last = last.map { max($0, edge) } ?? edge }
        }
        return last
    }

    /// The planned window that begins first after `time`.
    package func nextWindow(after time: Instant) -> Window? {
        let windows = claims.compactMap { claim in
            if case .window(let window) = claim, window.from > time { window } else { nil }
        }
        return windows.min { $0.from < $1.from }
    }
}

/// A rise of a version that looks like a mistake: a much higher version, or one after which hardly
/// any is left. Every lower version is refused from then on, so that it is announced.
package struct VersionJump: Hashable, Sendable {
    /// The highest version before; nil for the first.
    package let from: Int64?
    package let to: Int64
    /// Whether it is the version of signed documents, which a plain `forget` keeps.
    package let isSigned: Bool

    /// Nil for a rise as publishers make it. The first version may be any, such as a time.
    package init?(from: Int64?, to: Int64, isSigned: Bool = false) {
        let (rise, isOver) = to.subtractingReportingOverflow(from ?? to)
        guard isOver || rise > Self.highestRise || Int64.max - max(to, 0) < Self.highestRise else {
            return nil
        }
        (self.from, self.to, self.isSigned) = (from, to, isSigned)
    }

    private static let highestRise: Int64 = 1 << 32

    /// The warning, a clause. `kind` says which version it is.
    package func warning(_ kind: String = "version") -> String {
        "\(kind) \(from.map { "jumped from \($0) to \(to)" } ?? "\(to) is almost the highest possible"); "
            + "lower versions are refused from now on. If this is a mistake, type 'killswitchctl "
            + "forget SOURCE\(isSigned ? " --accepted-version --reason TEXT" : "")'"
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
    /// Announced as a local time of a time zone that is not known: it comes between these instants.
    case within(ClosedRange<Instant>)
    /// Announced by a text that is no date: the days are unknown.
    case unreadable(String)
    /// Announced without a date.
    case unlogged
}

/// Maintenance that is planned ahead. It begins and ends on time, without the network.
package struct Window: Hashable, Sendable {
    package let from: Instant
    /// After `from`. The window does not include it.
    package let until: Instant
    package var texts = Texts()
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
