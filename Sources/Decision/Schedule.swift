import CivilTime

/// The wait until the next poll of a source: a pure function of its earlier outcomes and of a seed.
///
/// - After a success: the interval, ± 10 %.
/// - After the first success since the start: a random share of the interval. Hosts that start together would else poll
///   together for many intervals: ± 10 % spreads them over a fifth of one.
/// - After a failure: full jitter below a ceiling. The ceiling doubles from the interval to
///   `max_backoff`, which is 5 intervals and at most 15 minutes by default, and never below the interval.
/// - After a denied access (401, 403): half of the highest ceiling to all of it, and never less than
///   after a success.
/// - Before the first good answer since the start: 1, 2, 4 … seconds up to the interval, after every
///   kind of failure.
/// - `Retry-After` (RFC 9110 §10.2.3) is a lower bound of at most an hour.
package struct Schedule: Hashable, Sendable {
    /// The highest ceiling of the back-off, unless the interval is longer.
    package static let backOffLimit: Duration = .seconds(15 * 60)

    /// The highest ceiling where none is set: after a long outage the flags come again within a few intervals.
    package static func usualBackOff(of interval: Duration) -> Duration {
        min(interval * 5, backOffLimit)
    }

    package var interval: Duration
    /// The highest ceiling of the back-off; nil for the usual one.
    package var maxBackoff: Duration?
    private var failures = 0
    private var hasAnswered = false

    /// A schedule without any outcome yet.
    package init(interval: Duration, maxBackoff: Duration? = nil) {
        self.interval = interval
        self.maxBackoff = maxBackoff
    }

    /// The wait after a good answer. `pace` replaces the interval if the flags of a closed service ask for it.
    package mutating func succeeded(
        pace: Duration? = nil, using random: inout some RandomNumberGenerator
    ) -> Duration {
        failures = 0
        let usual = pace ?? interval
        guard hasAnswered else {
            hasAnswered = true
            // A share of an interval less jitter: were none shorter than the interval, the last second polls of many
            // hosts would meet the first third polls.
            let share = Double.random(in: 0.9...1.0, using: &random)
            let least = min(.seconds(1), usual)
            return least
                + (usual - least).scaled(by: share * Double.random(in: 0.0...1.0, using: &random))
        }
        return usual.scaled(by: Double.random(in: 0.9...1.1, using: &random))
    }

    /// The wait after a failure.
    package mutating func failed(
        _ failure: Failure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        failures += 1
        let wait = hasAnswered ? backOff(failure, using: &random) : firstRetry(using: &random)
        guard let requested = failure.retryAfter else { return wait }
        return max(wait, Retry.asked(requested, using: &random))
    }

    private func firstRetry(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = Retry.ceiling(after: failures, from: .seconds(1), to: interval)
        return ceiling.scaled(by: Double.random(in: 0.5...1.0, using: &random))
    }

    private func backOff(
        _ failure: Failure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let limit = max(interval, maxBackoff ?? Self.usualBackOff(of: interval))
        switch failure.kind {
        case .refused:
            // More polls would not give access: take the slowest pace at once. It may be the usual one.
            let slowest = limit.scaled(by: Double.random(in: 0.5...1.0, using: &random))
            let usual = interval.scaled(by: Double.random(in: 0.9...1.1, using: &random))
            return max(slowest, usual)
        case .unreachable, .invalid:
            let ceiling = Retry.ceiling(after: failures, from: interval, to: limit)
            let least = min(.seconds(1), interval)
            return max(least, ceiling.scaled(by: Double.random(in: 0.0...1.0, using: &random)))
        }
    }
}

extension Duration {
    /// The duration times `factor`, rounded to microseconds.
    package func scaled(by factor: Double) -> Duration {
        .microseconds(Int64((Double(microseconds) * factor).rounded()))
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): jitter that a test can repeat from its seed.
package struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// A generator whose numbers depend on `seed` alone.
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
