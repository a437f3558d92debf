import CivilTime

/// Whether ends, windows, `expires` and the expiry of orders follow the wall clock, or are held.
///
/// A board without a battery boots in 1970; a virtual machine may resume with last week's time; somebody may set the
/// clock. Such a clock must not end a service early. What speaks for it and against it is looked at anew with each
/// event, so that no step, sleep or restart has to be noticed: a `Date` goes on with the boot clock, which never steps.
///
/// The clock is *confirmed* if it is synchronised, or if the recent `Date` of a source is near it. It is *contradicted*
/// if it is earlier than what is surely past, or if a `Date` is away from it and none is near. Else it is neither.
struct ClockTrust {
    /// The largest accepted distance between our clock and another.
    static let tolerance: Duration = .seconds(5 * 60)

    /// An instant that surely lies in the past: of the build, or of systemd's clock file. No earlier `Date` counts.
    let certain: Instant
    /// The newest fetch of stored flags, by the clock of this host: a confirmed clock outweighs it.
    private var fetched: Instant
    private let startedAt: Boottime
    /// Whether sources that have not answered since the start are waited for.
    private var isPatient = true
    /// Asked where they lie, at each event: a copy of one costs more than the question.
    private var sources: [Source] = []
    /// What was found at the last event.
    private(set) var view = View()

    /// What is known of the time by one source.
    private struct Source {
        let name: SourceName
        /// Whether its answers may have a `Date`.
        let tellsTime: Bool
        var hasAnswered = false
        /// How often it has failed since the start.
        var failures = 0
        /// The last `Date`, when it first came, and whether another came before it. It stands still if it comes again
        /// without that: a cache has answered that gives no `Age`.
        var date: (instant: Instant, at: Boottime, hasMoved: Bool, isStanding: Bool)?
        /// Until when it is recent.
        var recentUntil: Boottime
        /// The latest `issued` of its documents that counts.
        var issued: Instant?

        /// Whether nothing is to be waited for after a start.
        var isSettled: Bool { !tellsTime || hasAnswered || failures >= 2 }

        /// Whether its answers have a `Date`, as far as known.
        var mayHaveDate: Bool { hasAnswered ? date?.isStanding == false : tellsTime }

        /// How far the wall clock is ahead of it; nil without a recent `Date`.
        func distance(at now: Now) -> Duration? {
            guard let date, !date.isStanding, now.boot < recentUntil else { return nil }
            return now.wall - (date.instant + (now.boot - date.at))
        }

        mutating func dateArrived(_ instant: Instant, until end: Boottime, at now: Now) {
            guard let known = date, known.instant == instant else {
                date = (instant, now.boot, date != nil, false)
                recentUntil = end
                return
            }
            // A `Date` has whole seconds: two answers within that may have the same.
            if !known.hasMoved, now.boot - known.at >= .seconds(2) { date?.isStanding = true }
        }
    }

    /// What speaks for and against the wall clock.
    struct View: Hashable {
        /// Whether systemd or the kernel calls it synchronised.
        fileprivate(set) var isSynchronised = false
        /// Whether a source's recent `Date` is near it.
        fileprivate(set) var isNear = false
        /// Whether it is earlier than the build, the clock file or the stored fetches.
        fileprivate(set) var isEarly = false
        /// The sources whose recent `Date` is away from it.
        fileprivate(set) var away: Set<SourceName> = []
        /// The sources with an accepted document that was issued later.
        fileprivate(set) var ahead: Set<SourceName> = []
        /// Whether each source that gives a `Date` has answered since the start, or has failed twice.
        fileprivate(set) var isSettled = true

        var isConfirmed: Bool { isSynchronised || isNear }
        var isContradicted: Bool { isEarly || !ahead.isEmpty || !away.isEmpty && !isNear }
        var hasDifference: Bool { isEarly || !ahead.isEmpty || !away.isEmpty }
    }

    /// What the wall clock is good for.
    enum Ruling: Hashable {
        case counts
        /// Nothing speaks against it, and somebody may yet: what comes by it waits for a moment.
        case awaited
        case held
    }

    /// A clock that starts with what is surely past.
    init(certain: Instant, fetched: [Instant], of plans: [SourcePlan], at now: Now) {
        self.certain = certain
        self.fetched = fetched.reduce(certain, max)
        startedAt = now.boot
        reconfigure(for: plans)
        reassess(at: now)
    }

    // MARK: - Events

    /// Looks at all that speaks for and against the wall clock. True if that has changed.
    @discardableResult mutating func reassess(at now: Now) -> Bool {
        var next = View()
        next.isSynchronised = now.isSynchronised == true
        for source in sources.indices {
            if isPatient, !sources[source].isSettled { next.isSettled = false }
            if let issued = sources[source].issued, now.wall < issued - Self.tolerance {
                next.ahead.insert(sources[source].name)
            }
            guard let distance = sources[source].distance(at: now) else { continue }
            if distance.magnitude > Self.tolerance {
                next.away.insert(sources[source].name)
            } else {
                next.isNear = true
            }
        }
        if next.isConfirmed { fetched = min(fetched, max(now.wall, certain)) }
        next.isEarly = now.wall < fetched
        defer { view = next }
        return next != view
    }

    /// A fetch has ended. A good answer may have a `Date` (RFC 9110 §6.6.1), which is recent for two `interval`s, and
    /// at least for a minute: an answer may take longer than a short interval.
    mutating func fetchEnded(
        of name: SourceName, isGood: Bool, date: Instant?, _ interval: Duration, at now: Now
    ) {
        guard let source = position(of: name) else { return }
        if isGood { sources[source].hasAnswered = true } else { sources[source].failures += 1 }
        if isGood, let date, date >= certain {
            sources[source].dateArrived(date, until: now.boot + Self.recency(interval), at: now)
        }
    }

    /// A pace replaces the interval of a source: its `Date` is recent for twice as long.
    mutating func nextFetchScheduled(of name: SourceName, after pace: Duration, at now: Now) {
        guard let source = position(of: name) else { return }
        let end = sources[source].recentUntil
        if end > now.boot { sources[source].recentUntil = max(end, now.boot + Self.recency(pace)) }
    }

    private static func recency(_ interval: Duration) -> Duration {
        max(interval * 2, .seconds(60))
    }

    /// Sets the latest `issued` that counts of a source's documents.
    mutating func set(issued instant: Instant?, of name: SourceName) {
        if let source = position(of: name) { sources[source].issued = instant }
    }

    private func position(of name: SourceName) -> Int? {
        sources.firstIndex { $0.name == name }
    }

    /// Takes `instant` as past: flags were fetched then, by a clock that counted.
    mutating func raiseFloor(to instant: Instant) { fetched = max(fetched, instant) }

    /// Stored flags were dropped: the others were fetched at these times.
    mutating func resetFloor(to instants: [Instant]) { fetched = instants.reduce(certain, max) }

    /// No source is waited for any longer.
    mutating func endWait() { isPatient = false }

    /// Drops what is known of sources that are gone.
    mutating func reconfigure(for plans: [SourcePlan]) {
        sources = plans.map { plan in
            let known = sources.first { $0.name == plan.name && $0.tellsTime == plan.tellsTime }
            return known
                ?? Source(name: plan.name, tellsTime: plan.tellsTime, recentUntil: startedAt)
        }
    }

    // MARK: - Questions

    /// Whether ends follow the wall clock, wherever they come from.
    func believes(_ now: Now) -> Bool { ruling(for: nil, wait: .zero, at: now) == .counts }

    /// What the wall clock is good for, for the ends of a source. After a start, sources that may tell the time are
    /// waited for, at most for `wait`.
    func ruling(for source: SourceName?, wait: Duration, at now: Now) -> Ruling {
        if view.isSynchronised { return .counts }
        if let source, view.away.contains(source) || view.ahead.contains(source) { return .held }
        if view.isNear { return .counts }
        if view.isContradicted { return .held }
        return view.isSettled || now.boot >= startedAt + wait ? .counts : .awaited
    }

    /// Whether an order may expire by the wall clock. One that closes takes a confirmed clock, unless no source tells
    /// the time.
    func expiresOrders(thatClose: Bool, wait: Duration, at now: Now) -> Bool {
        guard thatClose, !view.isConfirmed else {
            return ruling(for: nil, wait: wait, at: now) == .counts
        }
        let hasDates = sources.contains(where: \.mayHaveDate)
        return !hasDates && !view.isContradicted && now.boot >= startedAt + wait
    }

    /// The latest instant that surely lies in the past for a source. None of it is a time by the clock of this host.
    func surelyPast(for source: SourceName) -> Instant {
        // The clocks of signers differ.
        latestIssued(of: source).map { max(certain, $0 - Self.tolerance) } ?? certain
    }

    private func latestIssued(of source: SourceName) -> Instant? {
        position(of: source).flatMap { sources[$0].issued }
    }

    /// Everything that differs from the wall clock, and by how much.
    func differences(at now: Now) -> [(difference: ClockDifference, amount: Duration)] {
        guard view.hasDifference else { return [] }
        let all: ClockDifference.Outcome = view.isSynchronised ? .outweighed : .allHeld
        let own: ClockDifference.Outcome = all == .allHeld && view.isNear ? .ownHeld : all
        var found: [(ClockDifference, Duration)] = []
        if view.isEarly {
            let cause: ClockDifference.Cause = now.wall < certain ? .build : .fetch
            found.append(
                (ClockDifference(source: nil, cause: cause, outcome: all), fetched - now.wall))
        }
        for name in view.ahead.union(view.away).sorted() {
            if view.ahead.contains(name), let issued = latestIssued(of: name) {
                found.append(
                    (ClockDifference(source: name, cause: .issued, outcome: own), issued - now.wall)
                )
            }
            if view.away.contains(name),
                let distance = sources.first(where: { $0.name == name })?.distance(at: now)
            {
                let cause = ClockDifference.Cause.date(isAhead: distance < .zero)
                found.append(
                    (ClockDifference(source: name, cause: cause, outcome: own), distance.magnitude))
            }
        }
        return found
    }

    /// The wake-up for the time at which what is held may come without any answer.
    func nextChange(wait: Duration, at now: Now) -> Wake {
        var wake = Wake()
        for moment in sources.map(\.recentUntil) + [startedAt + wait]
        where moment > now.boot {
            wake.include(boot: moment)
        }
        for instant in sources.map({ surelyPast(for: $0.name) }) + [fetched]
        where instant > now.wall {
            wake.include(wall: instant)
        }
        return wake
    }
}
