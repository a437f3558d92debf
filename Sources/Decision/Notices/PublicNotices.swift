import CivilTime

/// Which notices of its ends and windows were told of a service, over restarts.
///
/// The rule: of the times of `notify_before` that have come, the nearest is told unless it was told. So a
/// notice that was missed is not told late, and a clock that is set back tells none again. Flags that
/// announce another end or window instead have moved it; flags that announce it no longer have
/// cancelled it.
struct PublicNotices: Hashable, Sendable {
    /// The announcements that are followed, each with the times of `notify_before` that were told.
    private var published: [Announcement: Set<Duration>]
    /// What is to be told, as of the last look.
    private(set) var pending: [PublicNotice] = []
    /// The time left until the next notice, as of the last look; nil without one.
    private(set) var next: Duration?

    /// Of more announcements, the nearest are followed: several switches may announce more.
    private static let followed = 64

    /// What earlier runs have told.
    init(stored: [Announcement: Set<Duration>]?) { published = stored ?? [:] }

    /// What the ledger stores; nil if there is nothing.
    var stored: [Announcement: Set<Duration>]? { published.isEmpty ? nil : published }

    /// Updates to what flags announce now. Without `leads` (`notify_before`), nothing is told or remembered.
    mutating func update(from outlook: UpcomingChanges, _ leads: [Duration], in zone: Zone) {
        (pending, next) = ([], nil)
        if leads.isEmpty {
            published = [:]
            return
        }
        if outlook.isAwaited { return }
        let ahead = outlook.ahead(Self.followed)
        if ahead.isEmpty, published.isEmpty { return }
        let moved = outlook.isComplete ? drop(outlook, ahead, in: zone) : []
        for item in ahead {
            guard let left = item.left else { continue }
            let due = leads.filter { left <= $0 }.min()
            var known = published[item.announcement] ?? []
            // The news of a move says when it comes.
            if let due, known.insert(due).inserted, !moved.contains(item.announcement) {
                let announcement = ZonedAnnouncement(item.announcement, in: zone)
                pending.append(.soon(announcement, lead: due, left: left, title: item.title))
            }
            // Written only if it has changed: the ledger shares it.
            if published[item.announcement] != known { published[item.announcement] = known }
            if let lead = leads.filter({ $0 < left }).max() {
                next = next.map { min($0, left - lead) } ?? left - lead
            }
        }
        // Forgets the earliest announcements, which have come true, if flags never drop any.
        guard published.count > 2 * Self.followed else { return }
        for announcement in published.keys.sorted().dropLast(2 * Self.followed) {
            published[announcement] = nil
        }
    }

    /// Drops what is announced no longer, with news of what had not come. Returns what is in the place of others.
    private mutating func drop(
        _ outlook: UpcomingChanges, _ ahead: [UpcomingChanges.Item], in zone: Zone
    ) -> Set<Announcement> {
        let gone = published.keys.filter { !outlook.announces($0) }.sorted()
        if gone.isEmpty { return [] }
        var new = ahead.map(\.announcement).filter { published[$0] == nil }
        for announcement in gone { published[announcement] = nil }
        // Of a service that has ended, the decision says everything.
        if outlook.hasEnded { return [] }
        var moved: Set<Announcement> = []
        for old in gone where old.from > outlook.time {
            let isEnd = old.until == nil
            if isEnd, let end = outlook.end, !end.isAhead { continue }
            let zoned = ZonedAnnouncement(old, in: zone)
            if let position = new.firstIndex(where: { ($0.until == nil) == isEnd }) {
                let other = new.remove(at: position)
                moved.insert(other)
                pending.append(.moved(from: zoned, to: ZonedAnnouncement(other, in: zone)))
            } else {
                pending.append(.cancelled(zoned))
            }
        }
        return moved
    }
}
