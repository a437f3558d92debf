import Decision

/// A target as systemd lists it: how it is, and which way a job takes it.
package struct ListedTarget: Hashable, Sendable {
    package let active: ActiveState
    /// Whether a job starts it, or stops it; nil without one.
    package let isStarting: Bool?

    package init(_ active: ActiveState, isStarting: Bool? = nil) {
        self.active = active
        self.isStarting = isStarting
    }

    /// Whether it is up when the present jobs are over.
    var willBeUp: Bool { isStarting ?? (!active.isDown && active != .deactivating) }
}

extension TargetOrders {
    /// The jobs that these orders want and that are not done yet, of targets that systemd has `listed`; it leaves out
    /// those that are down and have no job.
    package func due(
        _ listed: [GateTarget: ListedTarget], _ record: MoverRecord
    ) -> [TargetJob] {
        let isDue = { (line: Line) in
            if let number = line.number { return number > record.done[line.job]?.number ?? 0 }
            let willBeUp = listed[line.job.target]?.willBeUp ?? false
            return willBeUp != line.job.isStart
        }
        var jobs: [TargetJob] = []
        for line in lines where !jobs.contains(line.job) && isDue(line) { jobs.append(line.job) }
        // What has a number that was not carried out is asked for by name. Of the others a job of another target may do
        // some; where systemd refuses that one, each is asked for.
        return jobs.filter { job in
            number(of: job) > record.done[job]?.number ?? 0
                || jobs.allSatisfy { other in
                    !other.brings(job) && !other.stops(job) || record.refused[other] != nil
                }
        }
    }

    /// The highest number of a job's lines; 0 without one.
    package func number(of job: TargetJob) -> UInt64 {
        lines.filter { $0.job == job }.compactMap(\.number).max() ?? 0
    }
}

extension TargetJob {
    /// Whether systemd does `other`, which stops a target, with this start of another one.
    fileprivate func stops(_ other: TargetJob) -> Bool {
        isStart && !other.isStart && target.stops(other.target)
    }

    /// The jobs of all services in the order in which they are asked for: every closing before every opening, and both
    /// before the targets of states, so that all units begin to stop first.
    package static func inOrder(_ jobs: [TargetJob]) -> [TargetJob] {
        let rank = { (job: TargetJob) in
            if job.isStartOfState { return 3 }
            return job.isStart ? (job.target.kind == .open ? 2 : 1) : 0
        }
        return [0, 1, 2, 3].flatMap { wanted in jobs.filter { rank($0) == wanted } }
    }
}
