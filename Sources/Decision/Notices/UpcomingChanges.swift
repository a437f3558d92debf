import CivilTime

/// The end and the windows that the flags of a service announce, each with the time left until it.
struct UpcomingChanges {
    /// An end or a window that may be ahead.
    struct Item {
        let announcement: Announcement
        /// The time left until it, by the clock that counts for its source; nil while no clock counts.
        let left: Duration?
        let title: String?
        /// The window that it is; nil for an end.
        let window: Window?

        /// Whether it has not come yet, as far as a clock tells.
        var isAhead: Bool { left.map { $0 > .zero } ?? false }
    }

    /// The earliest end of all switches: the service ends with it.
    private(set) var end: Item?
    private(set) var windows: [Announcement: Item] = [:]
    /// Whether every switch has flags and a clock, so that what is missing here is announced no longer.
    let isComplete: Bool
    /// Whether a first answer may bring other flags in a moment.
    let isAwaited: Bool
    /// Whether flags announce an end without a readable time.
    private(set) var hasUnknownEnd = false
    private(set) var hasEnded = false
    /// The latest time of the clocks that count.
    let time: Instant

    /// What the evidence announces.
    init(_ evidence: [Evidence], in circumstances: Circumstances) {
        isComplete = evidence.allSatisfy { $0.reading != nil && !$0.isHeld }
        isAwaited = evidence.contains(where: \.isAwaited)
        time =
            evidence.compactMap { $0.isHeld ? nil : $0.time(in: circumstances) }.max()
            ?? circumstances.time
        // A copy of evidence would cost more than what is read of it.
        for position in evidence.indices {
            let time = evidence[position].isHeld ? nil : evidence[position].time(in: circumstances)
            for claim in evidence[position].reading?.claims ?? [] {
                guard let announcement = Announcement(claim) else {
                    if case .countdown = claim { hasUnknownEnd = true }
                    if case .ended = claim { hasEnded = true }
                    continue
                }
                let left = time.map { announcement.from - $0 }
                if case .window(let window) = claim {
                    if windows[announcement] != nil { continue }
                    windows[announcement] = Item(
                        announcement: announcement, left: left, title: window.texts.title,
                        window: window)
                } else if end.map({ announcement.from < $0.announcement.from }) ?? true {
                    end = Item(
                        announcement: announcement, left: left,
                        title: evidence[position].reading?.texts.title, window: nil)
                }
            }
        }
    }

    /// The window that begins next; nil without one, or while no clock counts.
    var nextWindow: Window? {
        windows.values.filter(\.isAhead).min { $0.announcement < $1.announcement }?.window
    }

    /// Whether flags announce it: as the end of the service, or as one of its windows.
    func announces(_ announcement: Announcement) -> Bool {
        announcement.until == nil
            ? hasUnknownEnd || end?.announcement == announcement
            : windows[announcement] != nil
    }

    /// The end and the windows that are ahead and come before the end, the nearest first: at most `count`.
    func ahead(_ count: Int) -> [Item] {
        if hasEnded { return [] }
        let last = end?.announcement.from
        var items = windows.values.filter { item in
            item.isAhead && last.map { item.announcement.from < $0 } ?? true
        }
        if let end, end.isAhead { items.append(end) }
        items.sort { $0.announcement < $1.announcement }
        return Array(items.prefix(count))
    }
}

extension Announcement: Comparable {
    /// By the time at which it comes true.
    package static func < (left: Self, right: Self) -> Bool {
        (left.from, left.until ?? left.from) < (right.from, right.until ?? right.from)
    }
}
