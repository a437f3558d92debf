import CivilTime
import Decision

/// The processes that run in the control group of a unit.
package struct UnitProcesses: Hashable, Sendable {
    package let count: Int
    /// The first of them: its identifier and its command line.
    package let first: String

    package init(count: Int, first: String) {
        self.count = count
        self.first = first
    }
}

/// The processes that a unit leaves behind when it stops, by `KillMode=process` or `none` of systemd.kill(5): systemd
/// calls it inactive, and they go on. No signal tells of their end, so that they are counted again and again.
struct LeftProcesses: Hashable, Sendable {
    /// Whether the unit leaves processes behind. Of every other unit nothing is counted.
    var arePossible = false
    /// Nil until they were counted, since the unit came down.
    private(set) var found: UnitProcesses?
    private(set) var countAt: Boottime?
    private var attempts = 0

    var mayRun: Bool { arePossible && found?.count != 0 }

    /// The unit runs: what it leaves behind is not known yet.
    mutating func forget() { (found, countAt, attempts) = (nil, nil, 0) }

    /// systemd has counted them; nil if it has not.
    mutating func counted(_ processes: UnitProcesses?) { found = processes ?? found }

    /// Has them counted, if that is due.
    mutating func requestCount(of unit: UnitName, at now: Boottime, _ batch: inout GateBatch) {
        if let countAt, now < countAt { return }
        batch.others.append(.countProcesses(unit))
        countAt = now + min(Retry.local(after: attempts), .seconds(10))
        attempts += 1
    }
}
