import CivilTime

/// When a source last confirmed some flags.
enum Confirmation: Hashable, Sendable {
    case never
    /// Before this start, by the wall clock.
    case earlier(Instant)
    /// Since the start.
    case now(Boottime)

    /// The time of a confirmation since the start; nil for the others.
    var moment: Boottime? {
        if case .now(let moment) = self { moment } else { nil }
    }

    /// The time since the confirmation; zero for `never`.
    func age(at now: Now) -> Duration {
        switch self {
        case .never: .zero
        case .earlier(let instant): max(.zero, now.wall - instant)
        case .now(let moment): now.boot - moment
        }
    }

    /// The confirmation by the wall clock; nil for `never`.
    func instant(at now: Now) -> Instant? {
        switch self {
        case .never: nil
        case .earlier(let instant): instant
        case .now(let moment): now.wall - (now.boot - moment)
        }
    }

    /// The same confirmation, as a restart would see it.
    func earlier(at now: Now) -> Confirmation { instant(at: now).map { .earlier($0) } ?? .never }
}
