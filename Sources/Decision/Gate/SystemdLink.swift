import CivilTime

/// The link to systemd: the connection to the bus, the units followed on it, and whether the system
/// is stopping.
struct SystemdLink: Hashable, Sendable {
    private enum Connection: Hashable, Sendable {
        /// A connection was asked for. Leaves for `up` or `lost`.
        case connecting
        /// systemd has listed our units. Leaves for `lost`.
        case up
        /// The bus is gone, or does not answer. Leaves for `connecting` at `retryAt`, and for `up`
        /// if a list comes before that.
        case lost(retryAt: Boottime)
    }

    private var connection = Connection.connecting
    /// When to ask again whether the system is still stopping; nil if it stays up as far as is known.
    private var askAgainAt: Boottime?
    /// Whether `askSystemState` is in flight.
    private var isAsking = false
    /// How often in a row the connection was lost.
    private var losses = 0
    /// The loss that was reported; nil once the bus is back.
    private var reportedLoss: String?
    private var followed: Set<UnitName> = []

    /// Whether systemd has listed our units on this connection.
    var isUp: Bool { connection == .up }

    /// Whether an answer can be hoped for: the connection is there, or being made.
    var isReachable: Bool { if case .lost = connection { false } else { true } }

    /// Whether targets may be moved now.
    var mayMove: Bool { isUp && askAgainAt == nil }

    /// The problem of the bus as a clause; nil without a problem.
    var problem: String? { reportedLoss }

    /// systemd has listed our units: the connection is up.
    mutating func connect(_ batch: inout GateBatch) {
        if reportedLoss != nil {
            reportedLoss = nil
            batch.announce(.busRecovered)
        }
        losses = 0
        // A new connection follows nothing yet.
        if !isUp { followed = [] }
        connection = .up
    }

    /// The connection is lost. Returns false if that was known already.
    mutating func lose(_ problem: String, at now: Boottime, _ batch: inout GateBatch) -> Bool {
        if case .lost = connection { return false }
        if reportedLoss == nil { batch.announce(.busLost(problem: problem)) }
        reportedLoss = problem
        connection = .lost(retryAt: now + GateMachine.backOff(losses))
        losses += 1
        isAsking = false
        askAgainAt = nil
        return true
    }

    /// systemd has answered whether the system is stopping.
    mutating func answer(isStopping: Bool, at now: Boottime) {
        isAsking = false
        askAgainAt = isStopping ? now + .seconds(5) : nil
    }

    /// Connects again, or asks again whether the system is stopping, if that is due.
    mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        if case .lost(let moment) = connection, moment <= now {
            connection = .connecting
            batch.connect()
        }
        if let askAgainAt, askAgainAt <= now, isUp { batch.askSystemState() }
    }

    /// The next moments at which `wake` has something to do.
    var wakeUps: [Boottime] {
        let retry: Boottime? = if case .lost(let moment) = connection { moment } else { nil }
        return [retry, askAgainAt].compactMap(\.self)
    }

    /// Whether `askSystemState` has to be sent now: one question at a time is enough.
    mutating func mayAsk() -> Bool {
        defer { isAsking = true }
        return !isAsking
    }

    /// Follows exactly these units. Returns false if that changes nothing, or cannot be asked for.
    mutating func follow(_ units: Set<UnitName>) -> Bool {
        guard units != followed, isUp else { return false }
        followed = units
        return true
    }
}
