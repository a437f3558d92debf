package import CivilTime

/// What is known beside the machine: problems of the configuration and the gates.
package struct HostCondition: Sendable {
    /// Why the configuration on disk is not in force; nil if it is.
    package var refusal: Since?
    /// Why the accepted configuration could not be stored for a start with an invalid one; nil if it is.
    package var keeping: Since?
    /// How many descriptors the process has open, and how many it may have; nil if that is not known.
    package var descriptors: (used: Int, limit: Int)?
    /// The state of the gates; nil if decisions move none.
    package var gates: GateOverview?
    /// Why the metrics are not written, and since when; nil if they are.
    package var metrics: Since?
    /// Why the state of the host is not reported, and since when; nil if it is, or is not to be.
    package var report: Since?

    /// A problem in words, and since when it is there.
    package struct Since: Hashable, Sendable {
        package let problem: String
        package let since: Instant

        /// A problem that lasts since `since`.
        package init(_ problem: String, since: Instant) {
            self.problem = problem
            self.since = since
        }
    }

    /// Nothing is wrong, and decisions move no gates.
    package init() {}

    /// The problems, but for those of the gates.
    var problems: [Problem] {
        var problems: [Problem] = []
        if let refusal {
            problems.append(
                Problem(
                    .host, .configurationRefused,
                    "configuration refused; the last accepted one stays in force: \(refusal.problem)",
                    since: refusal.since, isAlarm: true))
        }
        if let keeping {
            problems.append(
                Problem(
                    .host, .configurationNotKept,
                    "the accepted configuration is not stored: \(keeping.problem)",
                    since: keeping.since, isAlarm: true))
        }
        if let metrics {
            problems.append(
                Problem(
                    .host, .metrics, "the metrics are not written: \(metrics.problem)",
                    since: metrics.since, isAlarm: true))
        }
        if let report {
            problems.append(
                Problem(
                    .host, .report, "the host's state is not reported: \(report.problem)",
                    since: report.since, isAlarm: true))
        }
        if let descriptors, descriptors.used > descriptors.limit / 4 * 3 {
            problems.append(
                Problem(
                    .host, .descriptors,
                    "the daemon uses \(descriptors.used) of \(descriptors.limit) descriptors",
                    since: nil, isAlarm: true))
        }
        return problems
    }
}
