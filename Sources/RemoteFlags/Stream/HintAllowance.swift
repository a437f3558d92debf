package import CivilTime

/// How often the hints of a stream may lead to a fetch, whatever comes of it: ten at once, and one more
/// each five seconds, or each interval where that is shorter.
///
/// A true change is rare, and gets through at once. A stream that hints without end, because it is
/// hostile or broken, costs us and the server ten fetches, and then twelve a minute. A hint that has to
/// wait is not lost: it is passed on when its time comes, once for all that came meanwhile.
package struct HintAllowance: Hashable, Sendable {
    package static let atOnce = 10
    package static let longestPeriod = Duration.seconds(5)

    private let period: Duration
    /// When the allowance is, or was, whole again: each hint moves it by a period.
    private var wholeAt: Boottime?
    /// No hint is passed on before: the server asked to be left alone.
    private var heldUntil: Boottime?
    /// Whether a hint waits for its time.
    private var isWaiting = false

    /// An allowance for a source that is polled at this interval.
    package init(interval: Duration) {
        period = min(interval, Self.longestPeriod)
    }

    /// Takes in a hint.
    package mutating func ask() {
        isWaiting = true
    }

    /// Passes no hint on before that moment.
    package mutating func hold(until moment: Boottime) {
        heldUntil = moment
    }

    /// Whether a hint is to be passed on now. It is used up by that.
    package mutating func take(at now: Boottime) -> Bool {
        guard let due, due <= now else { return false }
        isWaiting = false
        wholeAt = max(wholeAt ?? now, now) + period
        return true
    }

    /// When the hint that waits may be passed on; nil where none does.
    package var due: Boottime? {
        guard isWaiting else { return nil }
        let allowed = wholeAt.map { $0 - period * (Self.atOnce - 1) }
        return max(allowed ?? .past, heldUntil ?? .past)
    }
}

extension Boottime {
    /// Before everything.
    fileprivate static let past = Boottime(microseconds: .min)
}
