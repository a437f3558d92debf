import CivilTime
import Decision

/// Whose clock measures an end, by the words of the manual and without the code of the machine. It also
/// knows the true time, and tells where the rule itself would bring a false or a late end.
struct ClockOracle {
    /// What is known of one source and of the service that follows it.
    struct Source {
        var saying: Edition.Saying?
        /// The last `Date`, and when it came.
        var date: (shown: Instant, at: Boottime)?
        var recentUntil = Boottime(microseconds: .min)
        var answeredAt: Boottime?
        /// Whether its server shows the true time.
        var isHonest = true
        /// When the state of its service began that was stored at the start.
        var past: Instant?
    }

    static let tolerance = Duration.seconds(300)
    static let firstTimeout = Duration.seconds(30)

    let interval: Duration
    /// The time of the build: no clock that shows an earlier one is right.
    let build: Instant
    var sources: [Source]
    /// The source with signers: the `Date` of its server counts for nothing.
    private let signed: Int
    /// When its newest document was issued.
    var issued: Instant?
    private var floor: Instant
    private var startedAt: Boottime
    private var isRebooted = true

    init(sources count: Int, signed: Int, interval: Duration, build: Instant, at now: Now) {
        self.signed = signed
        sources = Array(repeating: Source(), count: count)
        self.interval = interval
        self.build = build
        floor = build
        startedAt = now.boot
    }

    /// A new daemon has started, with stored flags that were fetched at these times.
    mutating func restart(fetched: [Instant], since: [Instant?], isReboot: Bool, at now: Now) {
        startedAt = now.boot
        isRebooted = isReboot
        floor = fetched.reduce(build, max)
        for index in sources.indices {
            sources[index].answeredAt = nil
            sources[index].past = since[index]
            if isReboot {
                sources[index].date = nil
            } else if sources[index].date != nil {
                sources[index].recentUntil = now.boot + interval * 2
            }
        }
    }

    /// A good answer came. `isNew`: with flags that were not known.
    mutating func answered(
        _ index: Int, _ saying: Edition.Saying, date: Instant?, isNew: Bool, at now: Now
    ) {
        sources[index].saying = saying
        sources[index].answeredAt = sources[index].answeredAt ?? now.boot
        if let date, date >= build {
            sources[index].date = (date, now.boot)
            sources[index].recentUntil = now.boot + interval * 2
        }
        let isBelieved = now.wall >= floor && !isContradicted(at: now)
        if isNew, isBelieved { floor = max(floor, now.wall) }
    }

    /// The state of a service; nil where the manual promises none yet.
    func state(of index: Int, at now: Now) -> State? {
        guard let saying = sources[index].saying else { return nil }
        let state: State
        switch saying {
        case .countdown(let end): state = time(of: index, at: now) >= end ? .ended : .countdown
        case .runs, .windows: state = .running
        }
        let isAwaited = sources[index].answeredAt == nil && now.boot < startedAt + Self.firstTimeout
        return isRebooted && isAwaited && state != .ended ? nil : state
    }

    func time(of index: Int, at now: Now) -> Instant {
        let source = sources[index]
        if index == signed { return timeOfSigned(source, at: now) }
        let own = shown(by: source, at: now)
        if now.wall < floor {
            if let own { return own }
            if let first = source.answeredAt, now.boot >= first + Self.firstTimeout {
                return now.wall
            }
            return max(now.wall, source.past ?? now.wall)
        }
        guard isContradicted(at: now), let own, isFar(own, from: now) else { return now.wall }
        return own
    }

    private func timeOfSigned(_ source: Source, at now: Now) -> Instant {
        guard now.wall < max(floor, surelyPast(at: now)) else { return now.wall }
        let known = max(now.wall, surelyPast(at: now))
        let isAnswered = source.answeredAt.map { now.boot >= $0 + Self.firstTimeout } ?? false
        return now.isSynchronised == true && isAnswered ? known : max(known, source.past ?? known)
    }

    /// What the build and the signers say is past.
    private func surelyPast(at now: Now) -> Instant {
        guard now.isSynchronised != true, let issued else { return build }
        return max(build, issued - Self.tolerance)
    }

    /// Why the rule is not good enough here: the server is honest and was heard of lately, and still the
    /// end of its source would come too early or too late. Nil where it is.
    func problem(of index: Int, truth: Instant, at now: Now) -> String? {
        let source = sources[index]
        guard source.isHonest, source.date != nil, now.boot < source.recentUntil else { return nil }
        let error = time(of: index, at: now) - truth
        guard error > Self.tolerance || error < .zero - Self.tolerance else { return nil }
        return "the ends of source \(index) are measured wrongly by \(error)"
    }

    /// How long the states stay as they are if nothing happens.
    func timeToNextEdge(at now: Now) -> Duration {
        var wait = Duration.seconds(86_400)
        func include(_ other: Duration) { if other > .zero { wait = min(wait, other) } }
        include(floor - now.wall)
        include(surelyPast(at: now) - now.wall)
        include(startedAt + Self.firstTimeout - now.boot)
        for (index, source) in sources.enumerated() {
            if case .countdown(let end) = source.saying { include(end - time(of: index, at: now)) }
            include(source.recentUntil - now.boot)
            if let first = source.answeredAt { include(first + Self.firstTimeout - now.boot) }
        }
        return wait
    }

    /// Whether the clock is not synchronised, and a recent `Date` of any server is far from it.
    private func isContradicted(at now: Now) -> Bool {
        now.isSynchronised != true
            && sources.contains { source in
                now.boot < source.recentUntil
                    && shown(by: source, at: now).map { isFar($0, from: now) } ?? false
            }
    }

    private func shown(by source: Source, at now: Now) -> Instant? {
        source.date.map { $0.shown + (now.boot - $0.at) }
    }

    private func isFar(_ instant: Instant, from now: Now) -> Bool {
        let distance = now.wall - instant
        return distance > Self.tolerance || distance < .zero - Self.tolerance
    }
}
