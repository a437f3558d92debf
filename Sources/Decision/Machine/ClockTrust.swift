import CivilTime

/// Whose clock measures ends and windows: the wall clock where it can be believed, else that of the
/// server that announced them.
///
/// A board without a battery boots in 1970; a virtual machine may resume with last week's time;
/// somebody may set the clock. Such a clock must neither end a service nor delay an end. A server's
/// clock may be wrong too, and then it counts for the ends of its own source alone. For a source with
/// signers it counts for nothing: see `ClockTrust+Signed.swift`.
struct ClockTrust {
    /// The largest accepted distance between our clock and a server's `Date`.
    static let tolerance: Duration = .seconds(5 * 60)

    /// An instant that surely lies in the past: of the build, or of systemd's clock file. No earlier `Date` counts.
    let certain: Instant
    /// The latest instant that surely lies in the past: also of the newest stored flags.
    private(set) var floor: Instant
    /// Whether the kernel calls the wall clock synchronised, as far as known.
    private(set) var isSynchronised: Bool
    /// Whether the kernel is known to call it so.
    private var isSurelySynchronised: Bool
    let startedAt: Boottime
    private(set) var servers: [SourceName: Server] = [:]
    /// The sources whose server's recent `Date` is far from the wall clock, or whose `issued` is far ahead.
    private var contradicting: Set<SourceName> = []
    /// When the first of these is no longer recent.
    private var nextExpiry: Boottime?
    /// How far the wall clock was from the boot clock when every server was last looked at.
    private var offset: Duration
    /// Whether the wall clock was earlier than the floor.
    private var isEarly = false
    /// Whether the ledger has other clocks.
    private var isUnstored = false

    /// How long a `Date` is recent: two intervals, and at least a minute. An answer may take longer than a short one.
    static func recency(_ interval: Duration) -> Duration {
        max(interval * 2, .seconds(60))
    }

    /// A clock that is believed from `certain` on, and from the fetch of the stored flags on. The `stored` clocks of
    /// servers count in the same boot, as if they had answered now.
    init(
        certain: Instant, fetched: [Instant], stored: Ledger.Clocks?, of sources: [SourcePlan],
        bootID: String, at now: Now
    ) {
        self.certain = certain
        floor = fetched.reduce(certain, max)
        offset = now.offset
        isSynchronised = now.isSynchronised ?? true
        isSurelySynchronised = now.isSynchronised ?? false
        startedAt = now.boot
        reconfigure(for: sources, at: now)
        guard let stored, stored.bootID == bootID else { return }
        isSynchronised = now.isSynchronised ?? stored.isSynchronised
        isUnstored = isSynchronised != stored.isSynchronised
        for source in sources {
            guard !source.isSigned, let clock = stored.servers[source.name] else { continue }
            servers[source.name] = Server(
                isSigned: false, tellsTime: source.tellsTime, clock: clock, stored: clock,
                recentUntil: now.boot + Self.recency(source.interval))
        }
        updateContradictions(at: now)
    }

    // MARK: - Events

    /// Advances to the time of an event. True if the clocks of ends may be others than before.
    mutating func advance(to now: Now, isStepped: Bool) -> Bool {
        let before = (isSynchronised, contradicting, isEarly)
        if let known = now.isSynchronised {
            (isSynchronised, isSurelySynchronised) = (known, known)
        } else if isStepped {
            (isSynchronised, isSurelySynchronised) = (false, false)
        }
        if before.0 != isSynchronised, servers.contains(where: { $0.value.stored != nil }) {
            isUnstored = true
        }
        isEarly = now.wall < floor
        let hasExpired = nextExpiry.map { $0 <= now.boot } ?? false
        let hasMoved = isStepped || (now.offset - offset).magnitude > .seconds(1)
        if hasExpired || hasMoved || contradicting.contains(where: { servers[$0]?.issued != nil }) {
            updateContradictions(at: now)
        }
        return before != (isSynchronised, contradicting, isEarly)
    }

    /// Notes a good answer, with its `Date` if it has one (RFC 9110 §6.6.1), or with the clock of the `mirror` that
    /// counts for warnings. True if the clocks of ends may be others.
    mutating func answerArrived(
        from source: SourcePlan, date: Instant?, of mirror: MirrorClock? = nil, at now: Now
    ) -> Bool {
        guard var server = servers[source.name] else { return false }
        let (known, isFirst) = (server.clock, server.answeredAt == nil)
        if isFirst { server.answeredAt = now.boot }
        var isNone = false
        if let mirror {
            (server.clock, server.mirror) = (mirror.clock, mirror.address)
            server.recentUntil = mirror.recentUntil
        } else if let date, date >= certain {
            server.dateArrived(date, recentFor: Self.recency(source.interval), at: now)
            isNone = server.clock == nil && known != nil
        }
        if isNone { isUnstored = true }
        if !source.isSigned, let clock = server.clock, server.stored?.isNear(clock) != true {
            server.stored = clock
            isUnstored = true
        }
        let isNew = update(source.name, &server, now)
        findExpiry(at: now)
        guard isEarly || isContradicted else { return isNew }
        return isNew || isFirst || known?.time(at: now) != server.clock?.time(at: now)
    }

    /// Notes the pace that replaces a source's interval after a good answer: its `Date` is recent for twice as long.
    mutating func nextFetchScheduled(of source: SourceName, after pace: Duration, at now: Now) {
        guard var server = servers[source], server.clock != nil else { return }
        server.recentUntil = max(server.recentUntil, now.boot + Self.recency(pace))
        servers[source] = server
    }

    /// Takes `instant` as past: stored flags were fetched then, by a clock that was believed.
    mutating func raiseFloor(to instant: Instant) { floor = max(floor, instant) }

    /// Sets the latest `issued` that counts of a source's documents. True if it is another than before.
    mutating func set(issued instant: Instant?, of source: SourceName, at now: Now) -> Bool {
        guard servers[source]?.issued != instant else { return false }
        servers[source]?.issued = instant
        update(source, now)
        findExpiry(at: now)
        return true
    }

    /// Drops the clocks of sources that are gone, and stores none of sources with signers.
    mutating func reconfigure(for sources: [SourcePlan], at now: Now) {
        let before = servers
        servers = [:]
        for source in sources {
            var server =
                before[source.name]
                ?? Server(
                    isSigned: source.isSigned, tellsTime: source.tellsTime, recentUntil: now.boot)
            (server.isSigned, server.tellsTime) = (source.isSigned, source.tellsTime)
            if source.isSigned { server.stored = nil } else { server.issued = nil }
            if let mirror = server.mirror, !source.mirrors.contains(mirror) {
                (server.clock, server.mirror) = (nil, nil)
            }
            servers[source.name] = server
        }
        if before.contains(where: { $0.value.stored != servers[$0.key]?.stored }) {
            isUnstored = true
        }
        contradicting.formIntersection(servers.keys)
    }

    /// Warnings about clocks that are newly far from ours: each once while it lasts.
    mutating func popWarnings(at now: Now) -> [LogMessage] {
        var notices: [LogMessage] = []
        for name in contradicting.sorted() {
            let isAhead = servers[name]?.isIssuedAhead(at: now) ?? false
            let reported = isAhead ? \Server.reportedIssue : \Server.reportedDate
            guard servers[name]?[keyPath: reported] != isSynchronised,
                let warning = warning(about: name, at: now)
            else { continue }
            servers[name]?[keyPath: reported] = isSynchronised
            notices.append(.sourceWarned(name, warning))
        }
        return notices
    }

    // MARK: - Questions

    /// Whether the wall clock is not earlier than what is past, and synchronised or far from no recent `Date`.
    func believes(_ now: Now) -> Bool { now.wall >= floor && !isContradicted }

    /// Whether something confirms the wall clock: the kernel, or a recent `Date`. Where no source tells the time, it
    /// counts as confirmed `wait` after the start.
    func confirms(_ now: Now, unlessToldWithin wait: Duration) -> Bool {
        if isSurelySynchronised { return true }
        guard now.wall >= floor else { return false }
        for server in servers.values {
            if let clock = server.clock, now.boot < server.recentUntil, !clock.isFar(from: now) {
                return true
            }
        }
        // A source that has not answered yet may tell the time.
        let canConfirm = servers.values.contains {
            $0.tellsTime && ($0.answeredAt == nil || $0.clock != nil)
        }
        return !canConfirm && now.boot >= startedAt + wait
    }

    /// Whether a `Date`, or `issued`, is far from the wall clock, so that it counts whether that is synchronised.
    var hasContradiction: Bool { !contradicting.isEmpty }

    /// The clock for the ends and windows of a source. Without any, they are held for `wait` after its
    /// first answer; what had come true at `past` stays so.
    func clock(of source: SourceName, wait: Duration, past: Instant?, at now: Now) -> EndClock {
        let server = servers[source]
        if server?.isSigned == true { return signedClock(of: source, wait, past, at: now) }
        guard now.wall >= floor else {
            if let clock = server?.clock { return .server(clock.time(at: now)) }
            if let end = holdEnds(of: source, wait: wait), end <= now.boot { return .host }
            return .held(max(now.wall, past ?? now.wall))
        }
        // The clock of a server that agrees with ours changes nothing: no other server moves an end.
        guard isContradicted, let clock = server?.clock, clock.isFar(from: now) else {
            return .host
        }
        return .server(clock.time(at: now))
    }

    /// The wake-up for the time at which this clock of a source may count no longer.
    func nextChange(of clock: EndClock, of source: SourceName, wait: Duration, at now: Now) -> Wake
    {
        var wake = Wake()
        switch clock {
        case .host: return wake
        case .server: if let nextExpiry { wake.include(boot: nextExpiry) }
        case .held:
            if let end = holdEnds(of: source, wait: wait), end > now.boot {
                wake.include(boot: end)
            }
        }
        let floor = floor(of: source)
        if now.wall < floor { wake.include(wall: floor) }
        return wake
    }

    /// Which clock is far from ours, and which of the two counts; nil if none is.
    func warning(about source: SourceName, at now: Now) -> String? {
        guard contradicting.contains(source), let server = servers[source] else { return nil }
        return server.issueWarning(isSynchronised: isSynchronised, at: now)
            ?? server.clock?.warning(
                of: server.mirror, isSigned: server.isSigned, isSynchronised: isSynchronised,
                at: now)
    }

    /// The warnings about all servers whose clock is far from ours.
    func presentWarnings(at now: Now) -> [(source: SourceName, warning: String)] {
        contradicting.sorted().compactMap { name in
            warning(about: name, at: now).map { (name, $0) }
        }
    }

    /// The clocks to store for a restart in this boot; nil if the stored ones hold, so that not every poll is a write.
    mutating func popUnstored(bootID: String) -> Ledger.Clocks? {
        guard isUnstored else { return nil }
        isUnstored = false
        let clocks = servers.compactMapValues(\.stored)
        return Ledger.Clocks(bootID: bootID, isSynchronised: isSynchronised, servers: clocks)
    }

    /// An unsigned `Date` contradicts for no source if its own has signers.
    private var isContradicted: Bool {
        !isSynchronised && contradicting.contains { servers[$0]?.isSigned == false }
    }

    /// When a source has answered for `wait`, since the start; nil if it has not answered.
    func holdEnds(of source: SourceName, wait: Duration) -> Boottime? {
        servers[source]?.answeredAt.map { $0 + wait }
    }

    // MARK: - Contradictions

    private mutating func updateContradictions(at now: Now) {
        offset = now.offset
        isEarly = now.wall < floor
        for name in servers.keys { update(name, now) }
        findExpiry(at: now)
    }

    private mutating func update(_ name: SourceName, _ now: Now) {
        guard var server = servers[name] else { return }
        update(name, &server, now)
    }

    /// Notes what is known of a source's clock. True if it contradicts the wall clock now, or does no longer.
    @discardableResult
    private mutating func update(_ name: SourceName, _ server: inout Server, _ now: Now) -> Bool {
        let recent = now.boot < server.recentUntil ? server.clock : nil
        let isAhead = server.isIssuedAhead(at: now)
        let isContradicting = isAhead || recent?.isFar(from: now) ?? false
        if !isContradicting, recent != nil { server.reportedDate = nil }
        if !isAhead { server.reportedIssue = nil }
        servers[name] = server
        if isContradicting { return contradicting.insert(name).inserted }
        return !contradicting.isEmpty && contradicting.remove(name) != nil
    }

    private mutating func findExpiry(at now: Now) {
        if contradicting.isEmpty, nextExpiry == nil { return }
        let ends = contradicting.compactMap { servers[$0]?.recentUntil }
        nextExpiry = ends.filter { $0 > now.boot }.min()
    }
}
