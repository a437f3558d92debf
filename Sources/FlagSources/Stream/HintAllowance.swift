package import CivilTime

/// How many hints of a stream are passed on.
package struct HintRate: Hashable, Sendable {
    /// How many hints may be passed on at once.
    package let atOnce: Int
    /// The time after which one more hint may be passed on.
    package let period: Duration

    /// For a stream that says that something has changed: ten at once, and one more every five seconds. A
    /// real change is rare, and its hint is passed on at once.
    package static let usual = HintRate(atOnce: 10, period: .seconds(5))
    /// For a stream that says which keys have changed, and whose hints are about keys of this host: two at
    /// once and three a second, never more than four within a second.
    package static let ofKeys = HintRate(atOnce: 2, period: .milliseconds(334))
}

/// The rate limit of a stream's hints, by a `HintRate`, or one for each poll interval if that is shorter. It
/// bounds what a hostile stream costs. A hint that has to wait is passed on once for all that come meanwhile.
package struct HintAllowance: Hashable, Sendable {
    private let rate: HintRate
    /// When all hints may be passed on again: each hint moves it by a period.
    private var wholeAt: Boottime?
    /// No hint is passed on before, since the server asked to be left alone.
    private var heldUntil: Boottime?
    private var isWaiting = false

    /// An allowance for a source that is polled at this interval.
    package init(_ rate: HintRate, interval: Duration) {
        self.rate = HintRate(atOnce: rate.atOnce, period: min(interval, rate.period))
    }

    /// Records a hint.
    package mutating func request() { isWaiting = true }

    /// Passes no hint on before that moment.
    package mutating func pause(until moment: Boottime) { heldUntil = moment }

    /// Whether a hint is to be passed on now, which then counts as passed on.
    package mutating func admit(at now: Boottime) -> Bool {
        guard let due, due <= now else { return false }
        isWaiting = false
        wholeAt = max(wholeAt ?? now, now) + rate.period
        return true
    }

    /// When the waiting hint may be passed on; nil if no hint waits.
    package var due: Boottime? {
        guard isWaiting else { return nil }
        let allowed = wholeAt.map { $0 - rate.period * (rate.atOnce - 1) }
        let past = Boottime(microseconds: .min)
        return max(allowed ?? past, heldUntil ?? past)
    }
}
