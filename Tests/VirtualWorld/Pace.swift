import CivilTime
package import Decision

/// The earliest and the latest time of the next poll, by the promises of the manual and without the code
/// of the schedule.
package struct Pace {
    private let interval: Duration
    private var failures = 0
    private var hasAnswered = false
    private var earliest: Boottime?
    private var latest: Boottime?

    package init(interval: Duration) {
        self.interval = interval
    }

    /// The shortest and the longest wait after a fetch with this outcome. `pace` is the interval that a
    /// closed service asks for.
    package mutating func wait(
        after outcome: Outcome, pace: Duration? = nil
    ) -> ClosedRange<Duration> {
        let wait: ClosedRange<Duration>
        switch outcome {
        case .answer, .unchanged:
            failures = 0
            hasAnswered = true
            let base = pace ?? interval
            wait = base * 0.9...base * 1.1
        case .failure(let failure):
            failures += 1
            wait = self.wait(after: failure)
        }
        // The schedule counts in microseconds.
        return wait.lowerBound - .microseconds(1)...wait.upperBound + .microseconds(1)
    }

    /// The daemon starts: it fetches at once.
    mutating func restart() { self = Pace(interval: interval) }

    /// The host wakes up: polls that became due during the sleep are due now.
    mutating func wake(at moment: Boottime) { latest = latest.map { max($0, moment) } }

    /// Why a fetch is wrong at this time; nil if it is right.
    func problem(fetchingAt moment: Boottime) -> String? {
        if let earliest, moment < earliest { return "asked \(earliest - moment) too soon" }
        if let latest, moment > latest { return "asked \(moment - latest) too late" }
        return nil
    }

    /// A fetch has ended.
    mutating func end(_ outcome: Outcome, at moment: Boottime) {
        let wait = wait(after: outcome)
        earliest = moment + wait.lowerBound
        latest = moment + wait.upperBound
    }

    private func wait(after failure: Failure) -> ClosedRange<Duration> {
        let own: ClosedRange<Duration>
        let limit = max(interval, min(interval * 5, .seconds(900)))
        if !hasAnswered {
            let ceiling = min(.seconds(1 << min(failures - 1, 20)), interval)
            own = ceiling / 2...ceiling
        } else if failure.kind == .refused {
            own = max(limit / 2, interval * 0.9)...max(limit, interval * 1.1)
        } else {
            let least = min(.seconds(1), interval)
            own = least...max(least, min(interval * (1 << min(failures - 1, 20)), limit))
        }
        guard let asked = failure.retryAfter, asked > .zero else { return own }
        let most = Duration.seconds(3600)
        return max(own.lowerBound, min(asked, most))...max(own.upperBound, min(asked * 1.1, most))
    }
}
