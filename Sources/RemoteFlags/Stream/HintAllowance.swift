package import CivilTime

/// The rate limit of a stream's hints: ten at once, and one more every five seconds, or every poll
/// interval if that is shorter.
///
/// A real change is rare, and its hint is passed on at once. A stream that hints without end, because it is
/// hostile or broken, costs ten fetches, and then twelve a minute. A hint that has to wait is passed on
/// later, once for all hints that came meanwhile.
package struct HintAllowance: Hashable, Sendable {
    /// How many hints may be passed on at once.
    package static let atOnce = 10
    /// The longest time after which one more hint may be passed on.
    package static let longestPeriod = Duration.seconds(5)

    private let period: Duration
    /// When all ten hints may be passed on again: each hint moves it by a period.
    private var wholeAt: Boottime?
    /// No hint is passed on before, since the server asked to be left alone.
    private var heldUntil: Boottime?
    /// Whether a hint waits for its time.
    private var isWaiting = false

    /// An allowance for a source that is polled at this interval.
    package init(interval: Duration) {
        period = min(interval, Self.longestPeriod)
    }

    /// Records a hint.
    package mutating func ask() { isWaiting = true }

    /// Passes no hint on before that moment.
    package mutating func hold(until moment: Boottime) { heldUntil = moment }

    /// Whether a hint is to be passed on now, which then counts as passed on.
    package mutating func take(at now: Boottime) -> Bool {
        guard let due, due <= now else { return false }
        isWaiting = false
        wholeAt = max(wholeAt ?? now, now) + period
        return true
    }

    /// When the waiting hint may be passed on; nil if no hint waits.
    package var due: Boottime? {
        guard isWaiting else { return nil }
        let allowed = wholeAt.map { $0 - period * (Self.atOnce - 1) }
        return max(allowed ?? .past, heldUntil ?? .past)
    }
}

extension Boottime {
    /// Earlier than every other moment.
    fileprivate static let past = Boottime(microseconds: .min)
}
