import CivilTime
import Decision

/// The link to systemd: the connection, the questions in flight on it, and whether the system is stopping.
struct SystemdLink: Hashable, Sendable {
    private enum Connection: Hashable, Sendable {
        /// A connection was asked for. Leaves for `up` or `lost`.
        case connecting
        /// systemd has listed our units. Leaves for `lost`.
        case up
        /// The bus is gone, or silent. Leaves for `connecting` at `retryAt`, and for `up` if a list comes first.
        case lost(retryAt: Boottime)
    }

    private var connection = Connection.connecting
    /// When to ask again whether the system is still stopping; nil if it stays up as far as is known.
    private var askAgainAt: Boottime?
    private var isAsking = false
    private var losses = 0
    /// How many of the next losses are followed by a short wait: the bus may be about to listen.
    private var shortWaits = 0
    /// The problem of the bus as a clause; nil once it is back.
    private(set) var problem: String?
    private var isSubscribed = false
    private var isListing = true
    private var reading: Set<UnitName> = []
    private var unread = UnreadUnits()
    /// Whether another listing is needed since the last one began.
    private var isListDue = false
    /// When the listing began whose units are being listed or read; nil if everything is read.
    private var listingBegan: Boottime?
    /// When everything is compared again, even without a signal.
    private var compareAt: Boottime?
    /// When the next listing may begin, after the last one.
    private var restsUntil: Boottime?
    var unanswered = UnansweredJobs()

    /// Whether systemd has listed our units on this connection.
    var isUp: Bool { connection == .up }

    /// Whether an answer can be hoped for: the connection is there, or being made.
    var isReachable: Bool { if case .lost = connection { false } else { true } }

    /// Whether targets may be moved now.
    var mayMove: Bool { isUp && askAgainAt == nil }

    /// Why nobody sees what became of a gate; nil if the connection is there.
    var obstacle: GateObstacle? { problem.map(GateObstacle.noBus) }

    /// systemd has listed our units: the connection is up.
    mutating func connect() {
        problem = nil
        losses = 0
        isListing = false
        connection = .up
    }

    /// The connection is lost. Returns false if that was known already.
    mutating func connectionLost(_ problem: String, at now: Boottime) -> Bool {
        if case .lost = connection { return false }
        self.problem = problem
        let wait = shortWaits > 0 ? Self.shortWait : Retry.local(after: losses)
        connection = .lost(retryAt: now + wait)
        losses += 1
        shortWaits = max(0, shortWaits - 1)
        (isAsking, isSubscribed, isListing, isListDue) = (false, false, false, false)
        (reading, listingBegan, restsUntil, compareAt) = ([], nil, nil, nil)
        unread = UnreadUnits()
        askAgainAt = nil
        return true
    }

    /// The bus may be back: connects at once if the connection is lost.
    mutating func retryNow(_ batch: inout GateBatch) {
        guard case .lost = connection else { return }
        (losses, shortWaits) = (0, 4)
        reconnect(&batch)
    }

    private mutating func reconnect(_ batch: inout GateBatch) {
        connection = .connecting
        isListing = true
        batch.others.append(.connectBus)
    }

    /// systemd has answered whether the system is stopping.
    mutating func systemStateRead(isStopping: Bool, at now: Boottime) {
        isAsking = false
        askAgainAt = isStopping ? now + .seconds(5) : nil
    }

    /// Does what is due at `wakeUp`. Returns whether the gates have another obstacle by now.
    mutating func wake(at now: Boottime, _ batch: inout GateBatch) -> Bool {
        if case .lost(let moment) = connection, moment <= now { reconnect(&batch) }
        if let askAgainAt, askAgainAt <= now, isUp { batch.isReadingSystemState = true }
        if let compareAt, compareAt <= now { mustListAgain() }
        unread.wake(at: now, &batch)
        return unanswered.wake(at: now)
    }

    /// When a lost connection is made again; nil if it is not lost.
    var retryAt: Boottime? { if case .lost(let moment) = connection { moment } else { nil } }

    /// The next moment at which `wake` has something to do.
    var wakeUp: Boottime? {
        let retry = retryAt
        let mayList = isListDue && !isListing && listingBegan == nil && reading.isEmpty
        let listing = mayList ? restsUntil : nil
        return [
            retry, isAsking ? nil : askAgainAt, listing, isListDue ? nil : compareAt, unread.wakeUp,
            unanswered.wakeUp,
        ]
        .compactMap(\.self).min()
    }

    /// Whether signals have to be subscribed to on a new connection.
    mutating func startSubscribing() -> Bool {
        defer { isSubscribed = true }
        return !isSubscribed
    }

    // MARK: Questions

    /// What systemd has may be other than what it listed last: it has read its units again, or more of them matter.
    mutating func mustListAgain() { isListDue = isUp }

    /// Whether targets or attached units are to be listed or read, or are being read. A listing that has to follow the
    /// present one does not count: reloads that follow each other would have nothing compared.
    func isReading(_ batch: GateBatch) -> Bool {
        isListing || isListDue && listingBegan == nil
            || !reading.union(batch.reads).subtracting([ListedUnits.unit].compactMap(\.self))
                .isEmpty
    }

    /// systemd has answered for a unit; `isKnown`: it has told how the unit is.
    mutating func unitRead(_ unit: UnitName, isKnown: Bool, at now: Boottime) {
        reading.remove(unit)
        unread.answered(unit, isKnown: isKnown, at: now)
    }

    /// Drops a question that is in flight. Returns whether our targets and units are to be listed.
    ///
    /// A listing waits until everything of the one before is read, and then as long again.
    mutating func prepare(_ batch: inout GateBatch, at now: Boottime) -> Bool {
        if batch.isReadingSystemState {
            batch.isReadingSystemState = !isAsking
            isAsking = true
        }
        reading.formUnion(batch.reads)
        guard !isListing, reading.isEmpty else { return false }
        if isUp, compareAt == nil { compareAt = now + .seconds(900) }
        if let began = listingBegan {
            listingBegan = nil
            restsUntil = now + (now - began)
            compareAt = now + .seconds(900)
        }
        guard isListDue, isUp, restsUntil.map({ $0 <= now }) ?? true else { return false }
        (isListDue, isListing, listingBegan, restsUntil) = (false, true, now, nil)
        compareAt = now + .seconds(900)
        return true
    }

    private static let shortWait: Duration = .milliseconds(250)
}

/// The units that could not be read. A gate whose targets or units are not known says nothing, so they are read again.
struct UnreadUnits: Hashable, Sendable {
    private var units: Set<UnitName> = []
    private var attempts = 0
    /// When they are read again; nil if there are none, or if they are being read.
    private(set) var wakeUp: Boottime?

    /// systemd has answered for a unit; `isKnown`: it has told how the unit is.
    mutating func answered(_ unit: UnitName, isKnown: Bool, at now: Boottime) {
        guard !isKnown else {
            guard units.remove(unit) != nil, units.isEmpty else { return }
            return self = UnreadUnits()
        }
        units.insert(unit)
        if wakeUp == nil { wakeUp = now + Retry.local(after: attempts) }
    }

    mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        guard let moment = wakeUp, moment <= now else { return }
        (wakeUp, attempts) = (nil, attempts + 1)
        for unit in units.sorted() { batch.read(unit) }
    }
}

/// The jobs that root's mover has not answered. A thousand are answered one by one: that is no silence.
struct UnansweredJobs: Hashable, Sendable {
    private var count = 0
    /// Since when it has answered none of them; nil if all are answered.
    private var since: Boottime?
    /// Nil unless it has been silent for a second: then nobody moves gates.
    private(set) var problem: GateObstacle?

    mutating func jobsSent(_ more: Int, at now: Boottime) {
        if count == 0, more > 0 { since = now }
        count += more
    }

    /// A job is answered. Returns whether that ends a silence.
    mutating func jobAnswered(at now: Boottime) -> Bool {
        defer { problem = nil }
        count = max(0, count - 1)
        since = count > 0 ? now : nil
        return problem != nil
    }

    /// Returns whether a silence has begun, or is a long one by now.
    mutating func wake(at now: Boottime) -> Bool {
        guard let moment = wakeUp, moment <= now else { return false }
        problem = .unanswered(isLasting: problem != nil)
        return true
    }

    /// When the silence becomes a problem, and when a lasting one; nil if there is none, or if it is one.
    var wakeUp: Boottime? {
        switch problem {
        case nil: since.map { $0 + .seconds(1) }
        case .unanswered(isLasting: false): since.map { $0 + .seconds(10) }
        default: nil
        }
    }
}
