import CivilTime

/// An attached unit as it is published in `units.json`.
package struct UnitRow: Hashable, Sendable {
    /// Its full name.
    package let name: UnitName
    /// Whether it should run; nil if the gate does not start it, or its service is undecided.
    package let isWanted: Bool?
    /// Nil until systemd has told.
    package let seen: UnitStatus?
    /// How long its last stop or start took, counted from the move of the gate.
    package let took: Duration?
    /// Its problem as a clause.
    package let problem: String?
}

/// The rows of one service that were written last. They are written again when they change, at most
/// five times a second.
struct PublishedRows: Hashable, Sendable {
    /// Nil before the first write, and after a failed write.
    private var rows: [UnitRow]?
    private var writtenAt: Boottime?
    /// Whether something happened that was not looked at yet, because of the rate limit.
    private var isDue = false
    private var isFailureReported = false

    /// Whether the rate limit lets rows be written now; if not, they are due a little later.
    mutating func mayWrite(at now: Boottime) -> Bool {
        isDue = writtenAt.map { now - $0 < Self.interval } ?? false
        return !isDue
    }

    /// Whether these rows differ from those written last; then they count as written.
    mutating func replace(with new: [UnitRow], at now: Boottime) -> Bool {
        guard new != rows else { return false }
        if rows != nil { isFailureReported = false }
        rows = new
        writtenAt = now
        return true
    }

    /// The rows could not be written: they are due again in 5 s. Returns whether that is news.
    mutating func fail(at now: Boottime) -> Bool {
        rows = nil
        isDue = true
        writtenAt = now + .seconds(5)
        defer { isFailureReported = true }
        return !isFailureReported
    }

    /// When rows that are due may be written.
    var wakeUp: Boottime? { isDue ? writtenAt.map { $0 + Self.interval } : nil }

    /// A hundred units that stop at once are a few writes, not a hundred.
    private static let interval: Duration = .milliseconds(200)
}

/// The permission of all gates of a unit together.
enum UnitPermission: Hashable, Sendable {
    case mayRun
    case mustStop
    /// Some of its services are undecided, and no decided service forbids it.
    case undecided
}
