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

    /// An instant that surely lies in the past, whatever a clock shows: of the build, or of systemd's
    /// clock file. An earlier `Date` tells no time.
    let certain: Instant
    /// The latest instant that surely lies in the past: also of the newest stored flags.
    private(set) var floor: Instant
    /// Whether the kernel calls the wall clock synchronised, as far as known.
    private(set) var isSynchronised: Bool
    /// The sources that have answered since the start, or whose clock an earlier run has stored.
    private var servers: [SourceName: Server] = [:]
    /// The sources with signers.
    private(set) var signed: Set<SourceName>
    /// The latest `issued` that counts of their documents.
    private(set) var issued: [SourceName: Instant] = [:]
    /// The warnings about documents that were issued far ahead: whether our clock was preferred then.
    private var reportedIssues: [SourceName: Bool] = [:]
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

    /// How long a `Date` is recent: for two intervals, and at least a minute, because an answer may
    /// take longer than a short interval.
    private static func recency(_ interval: Duration) -> Duration {
        max(interval * 2, .seconds(60))
    }

    private struct Server {
        /// When it first answered since the start.
        var answeredAt: Boottime?
        /// Its clock; nil if it tells no time.
        var clock: ServerClock?
        /// Its clock as the ledger has it.
        var stored: ServerClock?
        /// Until when its last `Date` is recent.
        var recentUntil: Boottime
        /// Whether a warning about its distance was given, and whether our clock was preferred then.
        var reportedIssue: Bool?
    }

    /// A clock that is believed from `certain` on, and from the time at which an earlier run fetched
    /// the flags that it stored. The `stored` clocks of servers count in the same boot, as if they had
    /// answered now.
    init(
        certain: Instant, fetched: [Instant], stored: Ledger.Clocks?, of sources: [SourcePlan],
        bootID: String, at now: Now
    ) {
        self.certain = certain
        floor = fetched.reduce(certain, max)
        offset = now.offset
        signed = Set(sources.filter(\.isSigned).map(\.name))
        guard let stored, stored.bootID == bootID else {
            isSynchronised = now.isSynchronised ?? true
            return
        }
        isSynchronised = now.isSynchronised ?? stored.isSynchronised
        isUnstored = isSynchronised != stored.isSynchronised
        for source in sources {
            guard !source.isSigned, let clock = stored.servers[source.name] else { continue }
            servers[source.name] = Server(
                clock: clock, stored: clock, recentUntil: now.boot + Self.recency(source.interval))
        }
        updateContradictions(at: now)
    }

    // MARK: - Events

    /// Advances to the time of an event. True if the clocks of ends may be others than before.
    mutating func advance(to now: Now, isStepped: Bool) -> Bool {
        let before = (isSynchronised, contradicting, isEarly)
        if let known = now.isSynchronised {
            isSynchronised = known
        } else if isStepped {
            isSynchronised = false
        }
        if before.0 != isSynchronised, servers.contains(where: { $0.value.stored != nil }) {
            isUnstored = true
        }
        isEarly = now.wall < floor
        let hasExpired = nextExpiry.map { $0 <= now.boot } ?? false
        let hasMoved = isStepped || (now.offset - offset).magnitude > .seconds(1)
        if hasExpired || hasMoved || !reportedIssues.isEmpty {
            updateContradictions(at: now)
        }
        return before != (isSynchronised, contradicting, isEarly)
    }

    /// Notes a good answer of a source, with its `Date` if it has one (RFC 9110 §6.6.1). True if the
    /// clocks of ends may be others than before.
    mutating func answerArrived(from source: SourcePlan, date: Instant?, at now: Now) -> Bool {
        let name = source.name
        var server = servers[name] ?? Server(recentUntil: now.boot)
        let (known, isFirst) = (server.clock, server.answeredAt == nil)
        if isFirst { server.answeredAt = now.boot }
        if let date, date >= certain {
            server.clock = known?.moved(to: date, at: now) ?? ServerClock(date, at: now)
            server.recentUntil = now.boot + Self.recency(source.interval)
        }
        if !source.isSigned, let clock = server.clock, server.stored?.isNear(clock) != true {
            server.stored = clock
            isUnstored = true
        }
        let isContradicting = isContradicting(name, &server, now)
        servers[name] = server
        let isNew = set(isContradicting, of: name)
        findExpiry(at: now)
        guard isEarly || isContradicted else { return isNew }
        return isNew || isFirst || known?.time(at: now) != server.clock?.time(at: now)
    }

    /// Notes when a source is asked again after a good answer, in place of its interval: its `Date`
    /// stays recent for twice as long.
    mutating func nextFetchScheduled(of source: SourceName, after pace: Duration, at now: Now) {
        guard var server = servers[source], server.clock != nil else { return }
        server.recentUntil = max(server.recentUntil, now.boot + Self.recency(pace))
        servers[source] = server
    }

    /// Takes `instant` as past: an earlier run stored flags then, by a clock that was believed.
    mutating func raiseFloor(to instant: Instant) { floor = max(floor, instant) }

    /// Takes `instant` as past if the clock is believed now: stored flags were fetched then.
    mutating func raiseFloor(to instant: Instant, at now: Now) {
        if believes(now) { raiseFloor(to: instant) }
    }

    /// Sets the latest `issued` that counts of a source's documents. True if it is another than before.
    mutating func set(issued instant: Instant?, of source: SourceName, at now: Now) -> Bool {
        guard issued[source] != instant else { return false }
        issued[source] = instant
        updateContradiction(of: source, now)
        return true
    }

    /// Drops the clocks of sources that are gone, and stores none of sources with signers.
    mutating func removeAll(except sources: [SourcePlan]) {
        let names = Set(sources.map(\.name))
        signed = Set(sources.filter(\.isSigned).map(\.name))
        for name in servers.keys where !names.contains(name) || signed.contains(name) {
            if servers[name]?.stored != nil { isUnstored = true }
            servers[name]?.stored = nil
        }
        servers = servers.filter { names.contains($0.key) }
        issued = issued.filter { signed.contains($0.key) }
        contradicting.formIntersection(names)
    }

    /// Warnings about clocks that are newly far from ours: each once while it lasts.
    mutating func popWarnings(at now: Now) -> [LogMessage] {
        var notices: [LogMessage] = []
        for name in contradicting.sorted() {
            let isAhead = isIssuedAhead(name, at: now)
            let reported = isAhead ? reportedIssues[name] : servers[name]?.reportedIssue
            guard reported != isSynchronised, let warning = warning(about: name, at: now) else {
                continue
            }
            if isAhead {
                reportedIssues[name] = isSynchronised
            } else {
                servers[name]?.reportedIssue = isSynchronised
            }
            notices.append(.sourceWarned(name, warning))
        }
        return notices
    }

    // MARK: - Questions

    /// Whether the wall clock is believed: it is not earlier than what is past, and it is
    /// synchronised, or no recent `Date` is far from it.
    func believes(_ now: Now) -> Bool { now.wall >= floor && !isContradicted }

    /// Whether a `Date`, or `issued`, is far from the wall clock, so that it counts whether that is synchronised.
    var hasContradiction: Bool { !contradicting.isEmpty }

    /// The clock for the ends and windows of a source. Without any, they are held for `wait` after its
    /// first answer; what had come true at `past` stays so.
    func clock(of source: SourceName, wait: Duration, past: Instant?, at now: Now) -> EndClock {
        if signed.contains(source) { return signedClock(of: source, wait, past, at: now) }
        let server = servers[source]
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
        guard contradicting.contains(source) else { return nil }
        return issueWarning(about: source, at: now)
            ?? servers[source]?.clock?.warning(
                isSigned: signed.contains(source), isSynchronised: isSynchronised, at: now)
    }

    /// The warnings about all servers whose clock is far from ours.
    func presentWarnings(at now: Now) -> [(source: SourceName, warning: String)] {
        contradicting.sorted().compactMap { name in
            warning(about: name, at: now).map { (name, $0) }
        }
    }

    /// The clocks to store for a restart in this boot; nil if the stored clocks still hold. A clock that hardly moved
    /// is not stored again, so that not every poll is a write.
    mutating func popUnstored(bootID: String) -> Ledger.Clocks? {
        guard isUnstored else { return nil }
        isUnstored = false
        let clocks = servers.compactMapValues(\.stored)
        return Ledger.Clocks(bootID: bootID, isSynchronised: isSynchronised, servers: clocks)
    }

    /// An unsigned `Date` contradicts for no source if its own has signers.
    private var isContradicted: Bool {
        !isSynchronised && contradicting.contains { !signed.contains($0) }
    }

    /// When a source has answered for `wait`, since the start; nil if it has not answered.
    func holdEnds(of source: SourceName, wait: Duration) -> Boottime? {
        servers[source]?.answeredAt.map { $0 + wait }
    }

    // MARK: - Contradictions

    private mutating func updateContradictions(at now: Now) {
        offset = now.offset
        isEarly = now.wall < floor
        for name in Set(servers.keys).union(issued.keys) { update(name, now) }
        findExpiry(at: now)
    }

    private mutating func updateContradiction(of name: SourceName, _ now: Now) {
        update(name, now)
        findExpiry(at: now)
    }

    private mutating func update(_ name: SourceName, _ now: Now) {
        var server = servers[name] ?? Server(recentUntil: now.boot)
        let isContradicting = isContradicting(name, &server, now)
        if servers[name] != nil { servers[name] = server }
        set(isContradicting, of: name)
    }

    /// Whether a source contradicts the wall clock. A source that does not is warned about anew the next time.
    private mutating func isContradicting(
        _ name: SourceName, _ server: inout Server, _ now: Now
    ) -> Bool {
        if !issued.isEmpty, isIssuedAhead(name, at: now) { return true }
        if !reportedIssues.isEmpty { reportedIssues[name] = nil }
        guard let clock = server.clock, now.boot < server.recentUntil else { return false }
        if clock.isFar(from: now) { return true }
        server.reportedIssue = nil
        return false
    }

    /// Notes whether a source contradicts the wall clock. True if that is new.
    @discardableResult
    private mutating func set(_ isContradicting: Bool, of name: SourceName) -> Bool {
        if isContradicting { return contradicting.insert(name).inserted }
        return !contradicting.isEmpty && contradicting.remove(name) != nil
    }

    private mutating func findExpiry(at now: Now) {
        if contradicting.isEmpty, nextExpiry == nil { return }
        let ends = contradicting.compactMap { servers[$0]?.recentUntil }
        nextExpiry = ends.filter { $0 > now.boot }.min()
    }
}
