import CivilTime

/// The waits after failures of one thing, such as a source, a stream or a server of reports.
///
/// The ceiling doubles from `first` to `longest`. A wait is a random share of it, because the hosts of a fleet fail at
/// the same time.
package struct Retry: Hashable, Sendable {
    private let first: Duration
    private let longest: Duration
    /// How many failures there were since the last success.
    package private(set) var failures = 0

    /// Waits from half of `first` to `longest`.
    package init(first: Duration, longest: Duration) {
        (self.first, self.longest) = (first, longest)
    }

    package mutating func succeeded() { failures = 0 }

    /// The wait after a failure: half of the ceiling to all of it. `isRefused`: more attempts would not give access, so
    /// the ceiling is the highest at once. `retryAfter` is what the other side asks for.
    package mutating func failed(
        retryAfter: Duration?, isRefused: Bool, using random: inout some RandomNumberGenerator
    ) -> Duration {
        failures += 1
        let ceiling =
            isRefused ? longest : Self.ceiling(after: failures, from: first, to: longest)
        let own = ceiling.scaled(by: Double.random(in: 0.5...1, using: &random))
        return max(own, retryAfter.map { Self.asked($0, using: &random) } ?? .zero)
    }

    /// The ceiling after so many failures in a row, at least one.
    package static func ceiling(
        after failures: Int, from first: Duration, to longest: Duration
    ) -> Duration {
        min(first * (1 << min(failures - 1, mostDoublings)), longest)
    }

    /// The wait after a failure on this host alone, which needs no jitter: 1, 2, 4 … 60 s, by the failures before it.
    package static func local(after failures: Int) -> Duration {
        ceiling(after: failures + 1, from: .seconds(1), to: .seconds(60))
    }

    /// The wait that another side asks for by Retry-After (RFC 9110 §10.2.3): up to a tenth longer, because a thousand
    /// hosts may have got the same; at most an hour.
    package static func asked(
        _ wait: Duration, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let least = min(max(wait, .zero), longestAsked)
        return min(least.scaled(by: Double.random(in: 1.0...1.1, using: &random)), longestAsked)
    }

    /// The longest wait that another side may ask for.
    package static let longestAsked: Duration = .seconds(3600)

    /// More than any ceiling, from 100 ms, the shortest interval of a source.
    private static let mostDoublings = 30
}
