import CivilTime
import Decision

/// What a world of clocks has told: all that the contract lets a daemon know of the time. It judges no state.
struct ClockOracle {
    /// What is known of one source and of the service that follows it.
    struct Source {
        /// Whether its answers may have a `Date`.
        var tellsTime = true
        /// What its last good answer said; nil before the first, also of an earlier run.
        var saying: Edition.Saying?
        /// The last `Date`, and when it came.
        var date: (shown: Instant, at: Boottime)?
        /// When its newest document was issued; nil without signers.
        var issued: Instant?
        /// Whether it has answered since the start, and how often it has failed.
        var hasAnswered = false
        var failures = 0
    }

    let interval: Duration
    /// The time of the build: no clock that shows an earlier one is right.
    let build: Instant
    private(set) var sources: [Source]
    /// When the stored flags were fetched, by the wall clock.
    private(set) var fetched: [Instant] = []
    private(set) var startedAt: Boottime
    private(set) var isRebooted = true

    init(sources count: Int, silent: Int, interval: Duration, build: Instant, at now: Now) {
        sources = Array(repeating: Source(), count: count)
        sources[silent].tellsTime = false
        self.interval = interval
        self.build = build
        startedAt = now.boot
    }

    /// A new daemon has started, with stored flags that were fetched at these times.
    mutating func restart(fetched: [Instant], isReboot: Bool, at now: Now) {
        (startedAt, isRebooted, self.fetched) = (now.boot, isReboot, fetched)
        for index in sources.indices {
            // No `Date` is stored.
            (sources[index].hasAnswered, sources[index].failures) = (false, 0)
            sources[index].date = nil
        }
    }

    /// A fetch has failed.
    mutating func failed(_ index: Int, at now: Now) { sources[index].failures += 1 }

    /// A good answer came. `isNew`: with flags that were not known, in a document that was issued at `issued`.
    mutating func answered(
        _ index: Int, _ saying: Edition.Saying, date: Instant?, issued: Instant?, isNew: Bool,
        at now: Now
    ) {
        sources[index].saying = saying
        sources[index].hasAnswered = true
        if let date { sources[index].date = (date, now.boot) }
        if let issued { sources[index].issued = issued }
        if isNew { fetched.append(now.wall) }
    }

    /// The state of a service; nil where nothing is promised.
    func state(of index: Int, at now: Now) -> State? { nil }

    /// How long the world goes on before it looks again, if nothing happens.
    func timeToNextEdge(at now: Now) -> Duration {
        var wait = Duration.seconds(86_400)
        for source in sources {
            guard case .countdown(let end) = source.saying, end > now.wall else { continue }
            wait = min(wait, end - now.wall)
        }
        return wait
    }
}
