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
    /// When the next listing may begin, after the last one.
    private var restsUntil: Boottime?
    var unanswered = UnansweredJobs()
    /// When the connection was lost that is not back; whether that is so long ago that it counts.
    private var lostSince: Boottime?
    private var isLostForLong = false

    /// Whether systemd has listed our units on this connection.
    var isUp: Bool { connection == .up }

    /// Whether an answer can be hoped for: the connection is there, or being made.
    var isReachable: Bool { if case .lost = connection { false } else { true } }

    /// Whether targets may be moved now.
    var mayMove: Bool { isUp && askAgainAt == nil }

    /// Why no gate is moved; nil if the connection is there. A bus that is restarted is back in a moment.
    var obstacle: GateObstacle? { problem.map { isLostForLong ? .noBus($0) : .awaitingBus($0) } }

    /// systemd has listed our units: the connection is up.
    mutating func connect() {
        problem = nil
        unanswered.systemdAnswered()
        losses = 0
        isListing = false
        connection = .up
        (lostSince, isLostForLong) = (nil, false)
    }

    /// The connection is lost. Returns false if that was known already.
    mutating func connectionLost(_ problem: String, at now: Boottime) -> Bool {
        if case .lost = connection { return false }
        self.problem = problem
        lostSince = lostSince ?? now
        unanswered.forget()
        let wait = shortWaits > 0 ? Self.shortWait : Retry.local(after: losses)
        connection = .lost(retryAt: now + wait)
        losses += 1
        shortWaits = max(0, shortWaits - 1)
        (isAsking, isSubscribed, isListing, isListDue) = (false, false, false, false)
        (reading, listingBegan, restsUntil) = ([], nil, nil)
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
        unread.wake(at: now, &batch)
        let isSilence = unanswered.wake(at: now)
        guard let limit = lossLimit, limit <= now else { return isSilence }
        isLostForLong = true
        return true
    }

    /// When a lost connection is a lasting obstacle; nil if it is not lost, or is one already.
    private var lossLimit: Boottime? { isLostForLong ? nil : lostSince.map { $0 + Self.restart } }

    /// When a lost connection is made again; nil if it is not lost.
    var retryAt: Boottime? { if case .lost(let moment) = connection { moment } else { nil } }

    /// The next moment at which `wake` has something to do.
    var wakeUp: Boottime? {
        let retry = retryAt
        let listing = isListDue && listingBegan == nil ? restsUntil : nil
        return [retry, askAgainAt, listing, unread.wakeUp, unanswered.wakeUp, lossLimit]
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
        if let began = listingBegan {
            listingBegan = nil
            restsUntil = now + (now - began)
        }
        guard isListDue, isUp, restsUntil.map({ $0 <= now }) ?? true else { return false }
        (isListDue, isListing, listingBegan, restsUntil) = (false, true, now, nil)
        return true
    }

    private static let shortWait: Duration = .milliseconds(250)
    /// How long a restart of the bus may take.
    private static let restart: Duration = .seconds(10)
    /// How long systemd may be silent about a job before that is a problem.
    static let timeLimit: Duration = .seconds(3)
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

/// The jobs that systemd has not answered. A thousand are answered one by one: that is no silence.
struct UnansweredJobs: Hashable, Sendable {
    private var count = 0
    /// Since when systemd has answered none of them; nil if all are answered.
    private var since: Boottime?
    /// Whether systemd has been silent for `timeLimit`.
    private(set) var isSilence = false
    /// Whether it has been silent, and has taken no job since.
    private(set) var isProblem = false

    mutating func jobsSent(_ more: Int, at now: Boottime) {
        if count == 0, more > 0 { since = now }
        count += more
    }

    /// A job is answered. Returns whether that ends a silence.
    mutating func jobAnswered(isRefused: Bool, at now: Boottime) -> Bool {
        defer { isSilence = false }
        count = max(0, count - 1)
        since = count > 0 ? now : nil
        if !isRefused { isProblem = false }
        return isSilence
    }

    /// The connection is lost, and with it every answer. A silence is over when systemd answers, and not before.
    mutating func forget() {
        let isProblem = isProblem
        self = UnansweredJobs()
        self.isProblem = isProblem
    }

    /// systemd has listed our units.
    mutating func systemdAnswered() { isProblem = false }

    /// Returns whether a silence has begun.
    mutating func wake(at now: Boottime) -> Bool {
        guard let moment = wakeUp, moment <= now else { return false }
        (isSilence, isProblem) = (true, true)
        return true
    }

    /// When the silence becomes a problem; nil if there is none, or if it is one.
    var wakeUp: Boottime? { isSilence ? nil : since.map { $0 + SystemdLink.timeLimit } }
}
