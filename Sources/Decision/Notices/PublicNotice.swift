package import CivilTime

/// News of an announced end or window for the users of a service: it comes soon, is moved, or is cancelled.
package enum PublicNotice: Hashable, Sendable {
    /// It comes after `left`. `lead` is the time of `notify_before` that has come.
    case soon(ZonedAnnouncement, lead: Duration, left: Duration, title: String?)
    case moved(from: ZonedAnnouncement, to: ZonedAnnouncement)
    case cancelled(ZonedAnnouncement)
}

/// An announcement with times of the service's zone.
package struct ZonedAnnouncement: Hashable, Sendable {
    package let from: ZonedInstant
    package let until: ZonedInstant?

    /// The announcement with times in `zone`.
    package init(_ announcement: Announcement, in zone: Zone) {
        from = zone.zoned(announcement.from)
        until = announcement.until.map(zone.zoned)
    }
}

extension PublicNotice {
    /// What it is, as a word for programs: `KILLSWITCH_NOTICE_KIND`.
    package enum Kind: String, CaseIterable, Sendable {
        case end, window
        case endMoved = "end-moved"
        case windowMoved = "window-moved"
        case endCancelled = "end-cancelled"
        case windowCancelled = "window-cancelled"
    }

    package var kind: Kind {
        switch self {
        case .soon(let item, _, _, _): item.until == nil ? .end : .window
        case .moved(let item, _): item.until == nil ? .endMoved : .windowMoved
        case .cancelled(let item): item.until == nil ? .endCancelled : .windowCancelled
        }
    }

    /// The end or window that it is about: of one that was moved, the new one.
    package var announcement: ZonedAnnouncement {
        switch self {
        case .soon(let item, _, _, _), .moved(_, let item), .cancelled(let item): item
        }
    }

    /// The time of `notify_before` that has come; nil for an end or window that was moved or cancelled.
    package var lead: Duration? { if case .soon(_, let lead, _, _) = self { lead } else { nil } }

    /// The line for people, with the name of the service.
    package func sentence(of service: ServiceName) -> String { "\(service): \(clause)" }

    private var clause: String {
        switch self {
        case .soon(let item, _, let left, let title):
            item.soon(after: left) + (title.map { ": \(quoted($0))" } ?? "")
        case .moved(let old, let new):
            "\(old.noun) of \(old.from) is moved to \(new.from)"
                + (new.until.map { ", until \($0)" } ?? "")
        case .cancelled(let item): "\(item.noun) of \(item.from) is cancelled"
        }
    }
}

extension ZonedAnnouncement {
    fileprivate var noun: String { until == nil ? "its end" : "the maintenance" }

    fileprivate func soon(after left: Duration) -> String {
        guard let until else { return "it ends in \(left.inWords), at \(from)" }
        return "maintenance begins in \(left.inWords), at \(from), and ends at \(until)"
    }
}

extension Duration {
    /// For people, in the largest unit that fits: "7 days", "90 minutes", "1 hour".
    fileprivate var inWords: String {
        let seconds = max(0, (microseconds + 500_000) / 1_000_000)
        let minutes = (seconds + 30) / 60
        return switch minutes {
        case 0...1: Self.words(seconds, "second")
        case ..<2880 where !minutes.isMultiple(of: 1440):
            minutes < 120 && !minutes.isMultiple(of: 60)
                ? Self.words(minutes, "minute") : Self.words((minutes + 30) / 60, "hour")
        default: Self.words((minutes + 720) / 1440, "day")
        }
    }

    private static func words(_ count: Int64, _ unit: String) -> String {
        "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
