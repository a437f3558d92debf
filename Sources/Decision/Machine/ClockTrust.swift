import CivilTime

/// Whose clock measures ends and windows: the wall clock where it can be believed, else that of the
/// server that announced them.
///
/// A board without a battery boots in 1970; a virtual machine may resume with last week's time;
/// somebody may set the clock. Such a clock must neither end a service nor delay an end. A server's
/// clock may be wrong too, and then it counts for the ends of its own source alone.
struct ClockTrust {
    /// The largest accepted distance between our clock and a server's `Date`.
    static let tolerance: Duration = .seconds(5 * 60)

    /// An instant that surely lies in the past, whatever a clock shows: of the build, or of systemd's
    /// clock file. An earlier `Date` tells no time.
    private let certain: Instant
    /// The latest instant that surely lies in the past: also of the newest stored flags.
    private var floor: Instant
    /// Whether the kernel calls the wall clock synchronised, as far as known.
    private var isSynchronised: Bool
    /// The sources that have answered since the start, or whose clock an earlier run has stored.
    private var servers: [SourceName: Server] = [:]
    /// The servers whose recent `Date` is far from the wall clock.
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
        var told: Bool?
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
        guard let stored, stored.bootID == bootID else {
            isSynchronised = now.isSynchronised ?? true
            return
        }
        isSynchronised = now.isSynchronised ?? stored.isSynchronised
        isUnstored = isSynchronised != stored.isSynchronised
        for source in sources {
            guard let clock = stored.servers[source.name] else { continue }
            servers[source.name] = Server(
                clock: clock, stored: clock, recentUntil: now.boot + Self.recency(source.interval))
        }
        lookAtAll(at: now)
    }

    // MARK: - Events

    /// Takes in the time of an event. True if the clocks of ends may be others than before.
    mutating func follow(_ now: Now, isStepped: Bool) -> Bool {
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
        if hasExpired || isStepped || (now.offset - offset).magnitude > .seconds(1) {
            lookAtAll(at: now)
        }
        return before != (isSynchronised, contradicting, isEarly)
    }

    /// Notes a good answer of a source, with its `Date` if it has one (RFC 9110 §6.6.1). True if the
    /// clocks of ends may be others than before.
    mutating func hear(_ source: SourcePlan, date: Instant?, at now: Now) -> Bool {
        var server = servers[source.name] ?? Server(recentUntil: now.boot)
        let isFirst = server.answeredAt == nil
        server.answeredAt = server.answeredAt ?? now.boot
        let known = server.clock
        if let date, date >= certain {
            server.clock = known?.moved(to: date, at: now) ?? ServerClock(date, at: now)
            server.recentUntil = now.boot + Self.recency(source.interval)
        }
        if let clock = server.clock, server.stored?.isNear(clock) != true {
            server.stored = clock
            isUnstored = true
        }
        servers[source.name] = server
        let before = contradicting
        look(at: source.name, now)
        let hasMoved = known?.time(at: now) != server.clock?.time(at: now)
        return before != contradicting
            || ((isEarly || isContradicted) && (isFirst || hasMoved))
    }

    /// Notes when a source is asked again after a good answer, in place of its interval: its `Date`
    /// stays recent for twice as long.
    mutating func expect(_ source: SourceName, after pace: Duration, at now: Now) {
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

    /// Drops the clocks of sources that are not configured any more.
    mutating func keep(_ sources: [SourcePlan]) {
        let names = Set(sources.map(\.name))
        if servers.contains(where: { !names.contains($0.key) && $0.value.stored != nil }) {
            isUnstored = true
        }
        servers = servers.filter { names.contains($0.key) }
        contradicting.formIntersection(names)
    }

    /// Notices of servers whose clock is newly far from ours: each once while it lasts.
    mutating func takeWarnings(at now: Now) -> [Notice] {
        var notices: [Notice] = []
        for name in contradicting.sorted() {
            guard let server = servers[name], server.told != isSynchronised else { continue }
            servers[name]?.told = isSynchronised
            if let warning = warning(about: name, at: now) {
                notices.append(.sourceWarned(name, warning))
            }
        }
        return notices
    }

    // MARK: - Questions

    /// Whether the wall clock is believed: it is not earlier than what is past, and it is
    /// synchronised, or no recent `Date` is far from it.
    func believes(_ now: Now) -> Bool { now.wall >= floor && !isContradicted }

    /// Whether a recent `Date` is far from the wall clock, so that it counts whether that is
    /// synchronised.
    var hasContradiction: Bool { !contradicting.isEmpty }

    /// The clock for the ends and windows of a source. Without any, they are held for `wait` after its
    /// first answer; what had come true at `past` stays so.
    func clock(of source: SourceName, wait: Duration, past: Instant?, at now: Now) -> EndClock {
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
            if let end = holdEnds(of: source, wait: wait) { wake.include(boot: end) }
        }
        if now.wall < floor { wake.include(wall: floor) }
        return wake
    }

    /// The distance of a server's clock from ours, and which of them counts; nil if they agree.
    func warning(about source: SourceName, at now: Now) -> String? {
        guard contradicting.contains(source), let clock = servers[source]?.clock else { return nil }
        let distance = now.wall - clock.time(at: now)
        let amount = distance.magnitude.inWords
        if isSynchronised {
            return "the clock of its server is \(amount) "
                + (distance > .zero ? "behind" : "ahead of")
                + " the clock of this host, which is synchronised and counts"
        }
        return "the clock of this host is not synchronised, and \(amount) "
            + (distance > .zero ? "ahead of" : "behind")
            + " the clock of the source's server, which counts for its ends and windows"
    }

    /// The warnings about all servers whose clock is far from ours.
    func presentWarnings(at now: Now) -> [(source: SourceName, warning: String)] {
        contradicting.sorted().compactMap { name in
            warning(about: name, at: now).map { (name, $0) }
        }
    }

    /// The clocks that a restart in this boot needs; nil if those that were taken last still do. A clock
    /// that hardly moved is not stored again, so that not every poll is a write.
    mutating func takeUnstored(bootID: String) -> Ledger.Clocks? {
        guard isUnstored else { return nil }
        isUnstored = false
        let clocks = servers.compactMapValues(\.stored)
        return Ledger.Clocks(bootID: bootID, isSynchronised: isSynchronised, servers: clocks)
    }

    private var isContradicted: Bool { !isSynchronised && !contradicting.isEmpty }

    private func holdEnds(of source: SourceName, wait: Duration) -> Boottime? {
        servers[source]?.answeredAt.map { $0 + wait }
    }

    // MARK: - Contradictions

    private mutating func lookAtAll(at now: Now) {
        offset = now.offset
        isEarly = now.wall < floor
        for name in servers.keys { update(name, now) }
        findExpiry()
    }

    private mutating func look(at name: SourceName, _ now: Now) {
        update(name, now)
        findExpiry()
    }

    private mutating func update(_ name: SourceName, _ now: Now) {
        guard let server = servers[name], let clock = server.clock, now.boot < server.recentUntil
        else {
            contradicting.remove(name)
            return
        }
        if clock.isFar(from: now) {
            contradicting.insert(name)
            return
        }
        contradicting.remove(name)
        if server.told != nil { servers[name]?.told = nil }
    }

    private mutating func findExpiry() {
        if contradicting.isEmpty, nextExpiry == nil { return }
        nextExpiry = contradicting.compactMap { servers[$0]?.recentUntil }.min()
    }
}

extension Now {
    /// The distance of the two clocks: it changes with a step of the wall clock.
    fileprivate var offset: Duration {
        wall - Instant(microseconds: boot.microseconds)
    }
}

extension Duration {
    /// For people, in the largest unit: "3 days".
    fileprivate var inWords: String {
        let seconds = microseconds / 1_000_000
        return switch seconds {
        case ..<7200: "\((seconds + 30) / 60) minutes"
        case ..<172_000: "\((seconds + 1800) / 3600) hours"
        default: "\((seconds + 43_200) / 86_400) days"
        }
    }
}
