import CivilTime
import Decision

/// The state that the contract requires of each service in a world of clocks, by its paragraphs *Clock*, *Time*,
/// *Start* and *When flags do not come*. Where killswitchd(8), *Clock*, is more exact than these, the page decides.
///
/// It remembers what it is told, and computes every state anew from that.
struct ClockOracle {
    /// What is known of one source and of the service that follows it.
    struct Source {
        /// Whether its answers may have a `Date`.
        var tellsTime = true
        /// The flags of its last good answer; nil before the first. They are stored: a restart keeps them.
        var saying: Edition.Saying?
        /// When these flags were fetched, by the wall clock of that moment, and whether that clock was confirmed. A
        /// later answer that confirms them is no fetch of them.
        var fetched: (at: Instant, isSure: Bool)?
        /// When its newest document was issued; nil without signers.
        var issued: Instant?
        /// The `Date` of its last good answer since the start, when it came, and whether the answer before had the
        /// same `Date`.
        var date: (shown: Instant, at: Boottime, isStill: Bool)?
        /// Whether it has answered since the start, and how often it has failed.
        var hasAnswered = false
        var failures = 0
        /// The last end that has come, and was not taken back by a clock that counts. Restarts and reboots keep it.
        var endThatCame: Instant?
    }

    /// "`first_timeout` (30 s)".
    private static let firstTimeout = Duration.seconds(30)
    /// "Within 5 min of it".
    private static let tolerance = Duration.seconds(300)

    /// The time of the build, and of systemd's clock file: no clock that shows an earlier time is right.
    let build: Instant
    /// "Of the last two intervals".
    private let dateLimit: Duration
    private var sources: [Source]
    private var startedAt: Boottime
    /// Whether no daemon has run in this boot before.
    private var isFirstOfBoot = true

    init(sources count: Int, silent: Int, interval: Duration, build: Instant, at now: Now) {
        sources = Array(repeating: Source(), count: count)
        sources[silent].tellsTime = false
        dateLimit = interval * 2
        self.build = build
        startedAt = now.boot
    }

    // MARK: - What happens

    /// A new daemon has started. It has the stored flags and no `Date`.
    mutating func restart(isReboot: Bool, at now: Now) {
        (startedAt, isFirstOfBoot) = (now.boot, isReboot)
        for index in sources.indices {
            (sources[index].hasAnswered, sources[index].failures) = (false, 0)
            sources[index].date = nil
        }
    }

    /// A fetch has failed.
    mutating func failed(_ index: Int) { sources[index].failures += 1 }

    /// A good answer came. `isNew`: with flags that were not known, in a document that was issued at `issued`.
    mutating func answered(
        _ index: Int, _ saying: Edition.Saying, date: Instant?, issued: Instant?, isNew: Bool,
        at now: Now
    ) {
        let previous = sources[index].date?.shown
        sources[index].date = date.map { (shown: $0, at: now.boot, isStill: $0 == previous) }
        sources[index].saying = saying
        sources[index].hasAnswered = true
        if let issued { sources[index].issued = issued }
        if isNew {
            sources[index].fetched = (now.wall, isConfirmed(at: now, within: dateLimit))
        }
    }

    /// The service shows this state, and the oracle has checked it.
    mutating func stateShown(_ state: State, of index: Int) {
        guard case .countdown(let end) = sources[index].saying else { return }
        if state == .ended {
            sources[index].endThatCame = end
        } else if state == .countdown, sources[index].endThatCame == end {
            sources[index].endThatCame = nil
        }
    }

    // MARK: - The state of a service

    /// The state of a service; nil where the contract leaves it open.
    func state(of index: Int, at now: Now) -> State? {
        let right = state(of: index, at: now, within: dateLimit)
        // "Of the last two intervals" leaves open whether a `Date` counts at the very end of the second interval.
        let other = state(of: index, at: now, within: dateLimit - .microseconds(1))
        // "The latest moment that surely lies in the past" leaves open whether a fetch does that an unconfirmed clock
        // has recorded.
        var sure = self
        for position in sources.indices where sources[position].fetched?.isSure == false {
            sure.sources[position].fetched = nil
        }
        let surely = sure.state(of: index, at: now, within: dateLimit)
        return right == other && right == surely ? right : nil
    }

    /// The same, where a `Date` counts until it is older than `limit`.
    private func state(of index: Int, at now: Now, within limit: Duration) -> State? {
        let source = sources[index]
        let isInTimeout = now.boot < startedAt + Self.firstTimeout
        // "Nothing ever fetched and `first_timeout` over: `when_unknown`", which opens by default.
        guard let saying = source.saying else { return isInTimeout ? .undecided : .running }
        // "After a reboot: stored flags that close decide at once; stored flags that open wait for the first answer
        // or `first_timeout`."
        let isOpeningAwaited = isFirstOfBoot && isInTimeout && !source.hasAnswered
        switch saying {
        case .runs: return isOpeningAwaited ? .undecided : .running
        case .countdown(let end):
            guard let isOver = hasCome(end, of: index, at: now, within: limit) else { return nil }
            if isOver { return .ended }
            guard isOpeningAwaited else { return .countdown }
            // "Stored flags that open wait" leaves open how they wait where the service has ended in this boot, and
            // then the clock takes the end back: ended, or undecided.
            return source.endThatCame == end ? nil : .undecided
        case .windows: return nil  // No source of this world plans any.
        }
    }

    /// Whether an end has come; nil where the contract leaves it open.
    private func hasCome(
        _ end: Instant, of index: Int, at now: Now, within limit: Duration
    ) -> Bool? {
        let source = sources[index]
        let hadCome = source.endThatCame == end
        if isHeld(index, at: now, within: limit) {
            // "What has come stays, what has not come waits."
            if hadCome { return true }
            // It leaves open whether an end has come if it is new, and earlier than the last end that has come.
            guard let last = source.endThatCame, last > end else { return false }
            return nil
        }
        // "An unsigned `Date` never moves a signed end" leaves open whether a signed end that has come is taken back
        // where the clock is earlier than a moment that surely lies in the past, and a `Date` alone confirms it.
        if hadCome, now.wall < end, now.wall < floor, source.issued != nil,
            now.isSynchronised != true
        {
            return nil
        }
        // "Ends follow the wall clock", in both directions.
        return now.wall >= end
    }

    // MARK: - The clock

    /// Whether the end of a source is held: whether the clock brings it no more, and does not take it back.
    private func isHeld(_ index: Int, at now: Now, within limit: Duration) -> Bool {
        // "A synchronised clock outweighs any" `Date`, and "ends come if it is confirmed".
        if now.isSynchronised == true { return false }
        // "A `Date` that is away while another is near holds the ends of its own source alone." If none is near, it
        // holds them too.
        let distances = sources.map { distance(of: $0, at: now, within: limit) }
        if let own = distances[index], own > Self.tolerance { return true }
        // killswitchd(8): "`issued` of a document also holds the ends of its own source if a `Date` is near."
        if let issued = sources[index].issued, now.wall < issued - Self.tolerance { return true }
        let counted = distances.compactMap(\.self)
        // Whatever the floor is.
        if isConfirmed(at: now, within: limit) { return false }
        // "Contradicted if it is earlier than the latest moment that surely lies in the past, or a source's recent
        // `Date` is further away and none is near."
        if now.wall < floor || !counted.isEmpty { return true }
        // "If it is not contradicted and every source that gives a `Date` has answered, failed twice, or
        // `first_timeout` is over."
        return now.boot < startedAt + Self.firstTimeout
            && sources.contains { $0.tellsTime && !$0.hasAnswered && $0.failures < 2 }
    }

    /// "It is confirmed if systemd or the kernel calls it synchronised, or a source's recent `Date` is within 5 min."
    private func isConfirmed(at now: Now, within limit: Duration) -> Bool {
        now.isSynchronised == true
            || sources.contains { source in
                distance(of: source, at: now, within: limit).map { $0 <= Self.tolerance } ?? false
            }
    }

    /// How far the `Date` of a source is from the wall clock; nil if it has none that counts.
    ///
    /// A `Date` that stands still does not count. killswitchd(8): neither does a `Date` that is earlier than the build.
    private func distance(of source: Source, at now: Now, within limit: Duration) -> Duration? {
        guard let date = source.date, !date.isStill, date.shown >= build else { return nil }
        let age: Duration = now.boot - date.at
        guard age <= limit else { return nil }
        let shown: Instant = date.shown + age
        return max(shown, now.wall) - min(shown, now.wall)
    }

    /// The latest moment that surely lies in the past: the build, systemd's clock file, the fetches of the stored
    /// flags, and `issued` of the accepted document. killswitchd(8): the clock of a signer may be 5 minutes ahead.
    private var floor: Instant {
        let issued: [Instant] = sources.compactMap(\.issued).map { $0 - Self.tolerance }
        return (sources.compactMap(\.fetched?.at) + issued).reduce(build, max)
    }

    /// How long the world goes on before it looks again, if nothing happens. It is never zero.
    func timeToNextEdge(at now: Now) -> Duration {
        let afterDate: Duration = dateLimit + .microseconds(1)
        var waits: [Duration] = [startedAt + Self.firstTimeout - now.boot, floor - now.wall]
        for source in sources {
            if case .countdown(let end) = source.saying { waits.append(end - now.wall) }
            if let issued = source.issued { waits.append(issued - Self.tolerance - now.wall) }
            if let date = source.date { waits.append(date.at + afterDate - now.boot) }
        }
        return waits.filter { $0 > .zero }.min() ?? .seconds(86_400)
    }
}
