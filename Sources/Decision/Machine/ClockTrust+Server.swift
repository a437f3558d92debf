import CivilTime

extension ClockTrust {
    /// What is known of the clock of a source: of its server, and of its signers.
    struct Server {
        var isSigned: Bool
        /// Whether its answers may have a `Date`.
        var tellsTime: Bool
        /// The latest `issued` that counts of its documents.
        var issued: Instant?
        /// When it first answered since the start.
        var answeredAt: Boottime?
        /// Its clock; nil if it tells no time. With mirrors, that of one of them.
        var clock: ServerClock?
        /// The last `Date`, when it first came, and whether another came before it.
        private var date: (instant: Instant, at: Boottime, hasMoved: Bool)?
        /// The address of the mirror whose clock it is; nil without mirrors.
        var mirror: String?
        /// Its clock as the ledger has it.
        var stored: ServerClock?
        /// Until when its last `Date` is recent.
        var recentUntil: Boottime
        /// Whether a warning about its distance was given, and whether our clock was preferred then.
        var reportedDate: Bool?
        /// The same of the warning that a document was issued far ahead.
        var reportedIssue: Bool?

        /// The source tells this of the time.
        init(
            isSigned: Bool, tellsTime: Bool, clock: ServerClock? = nil, stored: ServerClock? = nil,
            recentUntil: Boottime
        ) {
            self.isSigned = isSigned
            self.tellsTime = tellsTime
            self.clock = clock
            self.stored = stored
            self.recentUntil = recentUntil
        }

        /// Takes the `Date` of an answer. One that stands still is no clock: a cache has answered that gives no `Age`.
        mutating func dateArrived(_ instant: Instant, recentFor recency: Duration, at now: Now) {
            if let known = date, known.instant == instant {
                if now.boot - known.at < Self.resolution { return }
                if !known.hasMoved { (clock, stored, recentUntil) = (nil, nil, now.boot) }
                return
            }
            date = (instant, now.boot, date != nil)
            clock = clock?.moved(to: instant, at: now) ?? ServerClock(date: instant, at: now.boot)
            recentUntil = now.boot + recency
        }

        /// A `Date` has whole seconds: two answers within that may have the same.
        private static let resolution: Duration = .seconds(2)
    }
}
