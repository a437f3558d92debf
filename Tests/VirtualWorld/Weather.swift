/// The rates of all failures in a world. A rate is per poll unless its comment says otherwise.
package struct Weather: Sendable {
    /// No response: a closed port, a time-out.
    package var unreachable = 0.02
    /// A response that is no flags: a web page, broken JSON.
    package var notFlags = 0.005
    /// Flags that no format can read.
    package var wrongFlags = 0.005
    /// An older edition comes, from a replica that lags behind.
    package var rollback = 0.005
    /// 401, 403.
    package var refused = 0.001
    /// 503 with a Retry-After of two minutes.
    package var overloaded = 0.002
    /// An outage begins, of up to `longestOutage`.
    package var outage = 0.0003
    package var longestOutage: Duration = .seconds(60 * 3600)
    /// The daemon is killed and started again.
    package var restart = 0.0003
    /// The host is rebooted, within some minutes.
    package var reboot = 0.0002
    /// An operator gives or releases an order.
    package var order = 0.001
    /// How often restarts and orders are while a service waits for its turn, or drains.
    package var inStep = 10.0
    /// The host sleeps, or the daemon is suspended, for one to `longestSleep` hours.
    package var sleep = 0.0002
    package var longestSleep: Int64 = 30
    /// A write fails. The rate is per write.
    package var failedWrite = 0.002

    package init() {}
}

/// What happened in a world: tests expect enough failures, and no violation.
package struct Chronicle: Sendable {
    package var polls = 0
    package var faults: [String: Int] = [:]
    /// How many edges came and were checked: ends, windows, midnights, staleness.
    package var edges = 0
    /// How many changes of state were published.
    package var changes = 0
    /// How often services waited for their turn and drained, and what came in between.
    package var steps: [String: Int] = [:]
    /// The violations of what the manual promises, a line each.
    package var violations: [String] = []

    mutating func record(_ fault: String) { faults[fault, default: 0] += 1 }
    mutating func record(step: String) { steps[step, default: 0] += 1 }
}
