import CivilTime
package import Decision

/// What flags and policy ask of one service, by another algorithm than the machine's.
struct Oracle {
    struct Right {
        var state = State.running
        var daysLeft: Int?
        /// Whether an order closes the gate without a drain.
        var isUrgent = false
    }

    let zone: Zone
    let policy: Policy
    /// The slot of the host in the rollouts of each source.
    let slots: [Int]
    /// The flags of each source and the time of their last confirmation; nil before the first answer.
    private var received: [Received?]
    private var startedAt: Instant
    private var wokenAt: Instant?
    /// Whether nothing was decided in this boot before this start.
    private var isFirstOfBoot = true
    /// Whether flags and policy closed the service at the last look.
    private(set) var isClosed = false

    struct Received {
        var saying: Edition.Saying
        var confirmedAt: Instant
        /// The edition's number; nil if it was stored before the start.
        var edition: Int?
    }

    init(slots: [Int], policy: Policy, zone: Zone, at start: Instant) {
        self.slots = slots
        received = Array(repeating: nil, count: slots.count)
        self.policy = policy
        self.zone = zone
        startedAt = start
    }

    /// A source gives an edition, or confirms it. Returns whether that may change anything at once.
    mutating func answered(
        _ edition: Int, _ saying: Edition.Saying, of source: Int, at time: Instant
    ) -> Bool {
        let isKnown = received[source]?.edition == edition
        let wasFresh = received[source].map { time < $0.confirmedAt + (policy.maxStale ?? .zero) }
        if isKnown {
            received[source]?.confirmedAt = time
        } else {
            received[source] = Received(saying: saying, confirmedAt: time, edition: edition)
        }
        return !isKnown || wasFresh != true
    }

    /// A new daemon has started with these stored flags.
    mutating func restart(
        at time: Instant, isFirstOfBoot: Bool, isClosed: Bool, _ stored: [Received?]
    ) {
        startedAt = time
        wokenAt = nil
        self.isFirstOfBoot = isFirstOfBoot
        self.isClosed = isClosed
        received = stored
    }

    mutating func wake(at time: Instant) { wokenAt = time }

    /// When no clock is confirmed and no source gives a `Date`, a source that has not answered since the start might
    /// give one: an order that closes does not end until each has answered, and `first_timeout` is over.
    func holdsOrders(at time: Instant) -> Bool {
        time < startedAt + policy.firstTimeout || received.contains { $0?.edition == nil }
    }

    /// When `first_timeout` is over.
    var endOfFirstTimeout: Instant { startedAt + policy.firstTimeout }

    /// What is right now; nil while an open gate waits for the first answers: of every source without
    /// flags, and after a boot of all.
    mutating func verdict(at time: Instant) -> Right? {
        var right = Right()
        var end: Instant?
        var (isStale, isWaiting) = (false, false)
        for (known, slot) in zip(received, slots) {
            let isAwaited = known?.edition == nil && time < startedAt + policy.firstTimeout
            if isAwaited, known == nil || isFirstOfBoot { isWaiting = true }
            guard let known else { continue }
            var own = Right()
            switch known.saying {
            case .runs: break
            case .countdown(let date):
                own.state = time >= date ? .ended : .countdown
                end = date
            case .windows(let windows, let steps, let drains):
                let reach = steps.isEmpty ? 100 : steps.last { $0.at <= time }?.percent ?? 0
                if windows.contains(where: { $0.contains(time) }), slot < reach * 10_000 {
                    own.state = .maintenance
                    own.isUrgent = !drains
                }
            }
            if own.state != .ended, this(known, isStaleAt: time) {
                isStale = true
                own.state = .maintenance
            }
            right.isUrgent = right.isUrgent || own.isUrgent
            if own.state.restrictiveness > right.state.restrictiveness { right.state = own.state }
        }
        let closes = policy.gate(of: right.state) == .closed
        if isWaiting, !closes { return nil }
        isClosed = closes
        if !isStale, right.state == .countdown, let end {
            right.daysLeft = zone.calendarDays(from: time, to: end)
        }
        return right
    }

    /// The next edge: a change by time alone.
    func nextEdge(after time: Instant) -> Instant {
        var edge = zone.startOfNextDay(after: time)
        func include(_ instant: Instant) {
            if instant > time, instant < edge { edge = instant }
        }
        for case .some(let known) in received {
            switch known.saying {
            case .runs: break
            case .countdown(let date): include(date)
            case .windows(let windows, let steps, _):
                for step in steps { include(step.at) }
                for window in windows {
                    include(window.lowerBound)
                    include(window.upperBound)
                }
            }
            if let limit = policy.maxStale { include(known.confirmedAt + limit) }
        }
        include(startedAt + policy.firstTimeout)
        if let wokenAt { include(wokenAt + policy.firstTimeout) }
        return edge
    }

    /// After a start, and after the host has slept, a source is given `first_timeout` before its silence
    /// closes what is open.
    private func this(_ known: Received, isStaleAt time: Instant) -> Bool {
        guard let limit = policy.maxStale, time >= known.confirmedAt + limit else { return false }
        if isClosed { return true }
        if known.edition == nil, time < startedAt + policy.firstTimeout { return false }
        if let wokenAt, known.confirmedAt < wokenAt, time < wokenAt + policy.firstTimeout {
            return false
        }
        return true
    }
}

/// The earliest and the latest time of the next poll, by the promises of the manual and without the code
/// of the schedule.
package struct Pace {
    private let interval: Duration
    private var failures = 0
    private var hasAnswered = false
    private var earliest: Boottime?
    private var latest: Boottime?

    package init(interval: Duration) { self.interval = interval }

    /// The shortest and the longest wait after a fetch with this outcome. `pace` is the interval that a
    /// closed service asks for.
    package mutating func wait(
        after outcome: Outcome, pace: Duration? = nil
    ) -> ClosedRange<Duration> {
        let wait: ClosedRange<Duration>
        switch outcome {
        case .answer, .unchanged:
            failures = 0
            let base = pace ?? interval
            wait = hasAnswered ? base * 0.9...base * 1.1 : min(.seconds(1), base)...base
            hasAnswered = true
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

    func problem(fetchingAt moment: Boottime) -> String? {
        if let earliest, moment < earliest { return "asked \(earliest - moment) too soon" }
        if let latest, moment > latest { return "asked \(moment - latest) too late" }
        return nil
    }

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
