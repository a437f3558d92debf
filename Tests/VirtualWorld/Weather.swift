/// How often what goes wrong, in a world where much does. A rate is that of a poll unless it says
/// otherwise.
package struct Weather: Sendable {
    /// Nothing comes: a closed port, a time-out.
    package var unreachable = 0.02
    /// What comes is no flags at all: a web page, broken JSON.
    package var notFlags = 0.005
    /// What comes are flags that no format can read.
    package var wrongFlags = 0.005
    /// An older edition comes, from a replica that lags behind.
    package var rollback = 0.005
    /// 401, 403.
    package var refused = 0.001
    /// 503 with a Retry-After of two minutes.
    package var overloaded = 0.002
    /// An outage begins, of up to `longestOutage`.
    package var outage = 0.0002
    package var longestOutage: Duration = .seconds(60 * 3600)
    /// The daemon is killed and started again, in the middle of whatever it does.
    package var restart = 0.0003
    /// The host falls asleep, or the daemon is stopped and continued, for one to `longestSleep` hours.
    package var sleep = 0.0002
    package var longestSleep: Int64 = 30
    /// A write fails. The rate is that of a write.
    package var failedWrite = 0.002

    package init() {}
}

/// What happened in a world, so that a test can tell that something did.
package struct Chronicle: Sendable {
    package var polls = 0
    package var faults: [String: Int] = [:]
    /// How many ends, window edges, midnights and moments of staleness came and were looked at.
    package var edges = 0
    /// How many changes of state were published.
    package var changes = 0
    /// What must not be, a line each.
    package var violations: [String] = []

    mutating func note(_ fault: String) { faults[fault, default: 0] += 1 }
}
