import CivilTime
import Decision

/// The right verdict in a world, by another algorithm than the machine's.
struct Oracle {
    let zone: Zone
    let policy: Policy
    /// The flags of each source and the time of their last confirmation; nil before the first answer.
    private var heard: [Heard?]
    private var startedAt: Instant
    private var wokenAt: Instant?
    /// Whether the last verdict closed the service.
    private var isClosed = false

    private struct Heard {
        var saying: Edition.Saying
        var confirmedAt: Instant
        var isSinceStart: Bool
    }

    init(sources: Int, policy: Policy, zone: Zone, at start: Instant) {
        heard = Array(repeating: nil, count: sources)
        self.policy = policy
        self.zone = zone
        startedAt = start
    }

    mutating func hear(_ saying: Edition.Saying, of source: Int, at time: Instant) {
        heard[source] = Heard(saying: saying, confirmedAt: time, isSinceStart: true)
    }

    /// A new daemon has started with the stored flags.
    mutating func restart(
        at time: Instant, as state: State?,
        _ stored: [(saying: Edition.Saying, confirmedAt: Instant)?]
    ) {
        startedAt = time
        isClosed = state.map { policy.gate(of: $0) == .closed } ?? false
        heard = stored.map { stored in
            stored.map {
                Heard(saying: $0.saying, confirmedAt: $0.confirmedAt, isSinceStart: false)
            }
        }
    }

    mutating func wake(at time: Instant) { wokenAt = time }

    /// The state and the days left; nil before every source has answered, because the manual promises
    /// nothing then.
    mutating func verdict(at time: Instant) -> (state: State, daysLeft: Int?)? {
        var state = State.running
        var end: Instant?
        var isStale = false
        for known in heard {
            guard let known else { return nil }
            var own = State.running
            switch known.saying {
            case .runs: break
            case .countdown(let date):
                own = time >= date ? .ended : .countdown
                end = date
            case .windows(let windows):
                if windows.contains(where: { $0.contains(time) }) { own = .maintenance }
            }
            if own != .ended, this(known, isStaleAt: time) {
                isStale = true
                own = .maintenance
            }
            if own.restrictiveness > state.restrictiveness { state = own }
        }
        isClosed = policy.gate(of: state) == .closed
        guard !isStale, state == .countdown, let end else { return (state, nil) }
        return (state, zone.calendarDays(from: time, to: end))
    }

    /// The next edge: a change by time alone.
    func nextEdge(after time: Instant) -> Instant {
        var edge = zone.startOfNextDay(after: time)
        func include(_ instant: Instant) {
            if instant > time, instant < edge { edge = instant }
        }
        for case .some(let known) in heard {
            switch known.saying {
            case .runs: break
            case .countdown(let date): include(date)
            case .windows(let windows):
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
    private func this(_ known: Heard, isStaleAt time: Instant) -> Bool {
        guard let limit = policy.maxStale, time >= known.confirmedAt + limit else { return false }
        if isClosed { return true }
        if !known.isSinceStart, time < startedAt + policy.firstTimeout { return false }
        if let wokenAt, known.confirmedAt < wokenAt, time < wokenAt + policy.firstTimeout {
            return false
        }
        return true
    }
}
