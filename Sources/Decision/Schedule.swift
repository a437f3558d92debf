import CivilTime

/// When a source is asked again: a pure function of how its answers went and of a seed.
///
/// After a success the interval, ± 10 %. After a failure full jitter below a ceiling that doubles
/// from the interval to 16 times it, at most 15 minutes, and never less than the interval; where we
/// are refused that ceiling at once, by half at least and never sooner than after a success. Before
/// the first good answer since the start 1, 2, 4 … seconds up to the interval, however it fails.
/// Retry-After is a lower bound, itself at most an hour.
package struct Schedule: Hashable, Sendable {
    static let backOffLimit: Duration = .seconds(15 * 60)
    static let retryAfterLimit: Duration = .seconds(3600)

    package var interval: Duration
    private var failures = 0
    private var hasAnswered = false

    package init(interval: Duration) {
        self.interval = interval
    }

    /// How long to wait after a good answer. `pace` replaces the interval where a closed service
    /// asked to be polled at its own.
    package mutating func succeeded(
        pace: Duration? = nil, using random: inout some RandomNumberGenerator
    ) -> Duration {
        failures = 0
        hasAnswered = true
        let base = pace ?? interval
        return base.scaled(by: Double.random(in: 0.9...1.1, using: &random))
    }

    /// How long to wait after a failure.
    package mutating func failed(
        _ failure: Failure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        failures += 1
        let wait = hasAnswered ? backOff(failure, using: &random) : firstRetry(using: &random)
        guard let wish = failure.retryAfter else { return wait }
        // Later than asked by up to a tenth: a thousand hosts were told the same second.
        let least = min(max(wish, .zero), Self.retryAfterLimit)
        let asked = least.scaled(by: Double.random(in: 1.0...1.1, using: &random))
        return max(wait, min(asked, Self.retryAfterLimit))
    }

    private func firstRetry(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(Duration.seconds(1 << min(failures - 1, 30)), interval)
        return ceiling.scaled(by: Double.random(in: 0.5...1.0, using: &random))
    }

    private func backOff(
        _ failure: Failure, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let limit = max(interval, min(interval * 16, Self.backOffLimit))
        switch failure.kind {
        case .refused:
            // Asking more often will not get us in: at once to the slowest pace, which is the usual
            // one where the interval is that long.
            let slowest = limit.scaled(by: Double.random(in: 0.5...1.0, using: &random))
            let usual = interval.scaled(by: Double.random(in: 0.9...1.1, using: &random))
            return max(slowest, usual)
        case .unreachable, .invalid:
            let ceiling = min(interval * (1 << min(failures - 1, 4)), limit)
            let least = min(.seconds(1), interval)
            return max(least, ceiling.scaled(by: Double.random(in: 0.0...1.0, using: &random)))
        }
    }
}

extension Duration {
    func scaled(by factor: Double) -> Duration {
        .microseconds(Int64((Double(microseconds) * factor).rounded()))
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): jitter that a test can repeat from its seed.
package struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
