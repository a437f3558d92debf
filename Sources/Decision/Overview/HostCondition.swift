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
    /// What has become of the acknowledgements in the clusters that take some.
    package var acknowledgements: [SourceName: AcknowledgementCounts] = [:]

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
        let lasting: [(Since?, Problem.Kind, clause: String)] = [
            (
                refusal, .configurationRefused,
                "configuration refused; the last accepted one stays in force"
            ),
            (keeping, .configurationNotKept, "the accepted configuration is not stored"),
            (metrics, .metrics, "the metrics are not written"),
            (report, .report, "the host's state is not reported"),
        ]
        var problems = lasting.compactMap { known, kind, clause in
            known.map { Problem(.host, kind, "\(clause): \($0.problem)", since: $0.since) }
        }
        if let descriptors, descriptors.used > descriptors.limit / 4 * 3 {
            problems.append(
                Problem(
                    .host, .descriptors,
                    "the daemon uses \(descriptors.used) of \(descriptors.limit) descriptors",
                    since: nil))
        }
        return problems
    }
}

/// What has become of the acknowledgements of this host in one cluster, since the daemon has started.
package struct AcknowledgementCounts: Hashable, Sendable {
    package let taken: Int
    package let failed: Int
    /// Whether the last put was taken; nil before the first has ended.
    package let isUp: Bool?
    /// How many services have something to tell that the cluster does not know.
    package let waiting: Int

    package init(taken: Int, failed: Int, isUp: Bool?, waiting: Int) {
        (self.taken, self.failed, self.isUp, self.waiting) = (taken, failed, isUp, waiting)
    }
}

/// The state of all gates at one moment, for the daemon's status.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// The problems: of the bus, then of gates, then of the starts for notices, then of units.
    package let problems: [GateProblem]

    /// The state of gates with these problems.
    package init(isReady: Bool, problems: [GateProblem]) {
        self.isReady = isReady
        self.problems = problems
    }
}

/// A problem of a gate, an attached unit or the bus, by the clock since boot: the gates' machine has no other.
package struct GateProblem: Hashable, Sendable {
    private let problem: Problem
    package let since: Boottime

    /// A problem that lasts since `since`; nil is the advice of its kind.
    package init(
        _ subject: Problem.Subject, _ kind: Problem.Kind, _ text: String, since: Boottime,
        isAlarm: Bool = true, advice: String? = nil
    ) {
        problem = Problem(subject, kind, text, since: nil, isAlarm: isAlarm, advice: advice)
        self.since = since
    }

    /// The same problem by the wall clock.
    func problem(at now: Now) -> Problem {
        var problem = problem
        problem.since = now.wall - (now.boot - since)
        return problem
    }

    /// Whether an operator has to solve it.
    package var isAlarm: Bool { problem.isAlarm }

    /// The line without the time: what a surface prints.
    package var sentence: String { problem.sentence }
}
