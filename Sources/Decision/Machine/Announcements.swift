package import CivilTime

/// An end or a window that flags announce, without its texts: other texts announce nothing else.
package struct Announcement: Hashable, Sendable {
    /// When it comes true.
    package let from: Instant
    /// When a window ends; nil for the end of a service.
    package let until: Instant?

    /// The window from `from` to `until`, or the end at `from`.
    package init(from: Instant, until: Instant? = nil) {
        self.from = from
        self.until = until
    }

    /// What a claim announces; nil for a claim that holds from the moment it is made.
    init?(_ claim: Claim) {
        switch claim {
        case .countdown(.at(let end)): self.init(from: end)
        case .window(let window): self.init(from: window.from, until: window.until)
        case .countdown(.within), .countdown(.unreadable), .countdown(.unlogged), .running,
            .maintenance, .updateRequired, .ended, .minimumVersion:
            return nil
        }
    }
}

/// Since when each end and window of a service is known: since its flags came into force.
///
/// Within a run the boot clock tells it, so that a step of the wall clock does not make a new end an
/// old one. Over a restart the ledger tells it, by the wall clock. An end that is moved, or taken
/// back and given again, is known anew; the same end in a newer answer stays known.
struct Announcements: Hashable, Sendable {
    /// When one announcement came into force.
    private struct Beginning: Hashable {
        /// Nil if an earlier run knew it.
        var boot: Boottime?
        /// Nil until the clock is believed.
        var wall: Instant?
    }

    /// More than these are known anew after a restart: several switches may announce more.
    private static let storedCount = 64

    private var known: [Announcement: Beginning]
    /// Whether stored flags tell since when their ends are known: the ledger is lost, or its clock was not believed.
    private let isUnrecorded: Bool

    /// What an earlier run knew; nil if it did not record it.
    init(stored: [Announcement: Instant]?) {
        known = (stored ?? [:]).mapValues { Beginning(wall: $0) }
        isUnrecorded = stored == nil
    }

    /// Forgets what they do not announce any more.
    mutating func update(
        from switches: [SwitchState], _ confirmations: [Confirmation], _ trust: ClockTrust,
        at now: Now
    ) {
        var next: [Announcement: Beginning] = [:]
        let isBelieved = trust.believes(now)
        // A copy of a switch would cost more than its claims.
        for position in switches.indices {
            for claim in switches[position].reading?.claims ?? [] {
                guard let announcement = Announcement(claim), next[announcement] == nil else {
                    continue
                }
                var beginning =
                    known[announcement]
                    ?? beginning(in: switches[position], confirmations[position], at: now)
                if isBelieved, let boot = beginning.boot, beginning.wall == nil {
                    beginning.wall = now.wall - (now.boot - boot)
                }
                next[announcement] = beginning
            }
        }
        known = next
    }

    private func beginning(
        in state: SwitchState, _ confirmed: Confirmation, at now: Now
    ) -> Beginning {
        guard isUnrecorded, confirmed.moment == nil, let fetched = state.answer?.answer.fetchedAt
        else { return Beginning(boot: now.boot) }
        return Beginning(wall: fetched)
    }

    /// How the end or the window was announced on which a verdict of `time` rests; of several windows, the window that
    /// was known longest before. Nil if the verdict rests on another thing.
    func lead(of verdict: Verdict, at time: Instant, now: Now) -> Lead? {
        let found: [Announcement]
        switch verdict.reason.slug {
        case .endPassed: found = verdict.endsAt.map { [Announcement(from: $0)] } ?? []
        case .window:
            found = known.keys.filter { item in
                item.until.map { item.from <= time && time < $0 } ?? false
            }
        default: return nil
        }
        let leads = found.compactMap { item -> Lead? in
            guard let beginning = known[item] else { return nil }
            if let boot = beginning.boot {
                return Lead(since: boot, length: (now.boot - boot) - (time - item.from))
            }
            guard let wall = beginning.wall else { return nil }
            return Lead(since: now.boot - max(.zero, time - wall), length: item.from - wall)
        }
        return leads.max { $0.length < $1.length }
    }

    /// The announcements to store in the ledger: if there are many, the earliest that are not over at `time`.
    func stored(at time: Instant) -> [Announcement: Instant] {
        var stored = known.compactMapValues(\.wall)
        if stored.count > Self.storedCount {
            let first = stored.filter { $0.key.until.map { $0 > time } ?? true }
                .sorted { $0.key < $1.key }.prefix(Self.storedCount)
            stored = Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
        }
        return stored
    }
}

/// How an end or a window that closes a service was announced.
struct Lead {
    let since: Boottime
    /// How long before it came true; negative if it was past already.
    let length: Duration
}
