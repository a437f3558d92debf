import CivilTime
import Decision

/// The files of a gate as they were written last: `units.json` and `gate.json`.
///
/// They are written when they change, at most five times a second: a hundred units that stop at once are a few writes.
/// A change of the gate itself is written at once, so that no reader sees the report of an earlier closing.
struct GateFiles: Hashable, Sendable {
    private struct File<Content: Hashable & Sendable>: Hashable, Sendable {
        /// Nil before the first write, and after a failed write.
        var content: Content?
        var writtenAt: Boottime?
        /// Whether something waits for the rate limit.
        var isDue = false

        func mayWrite(at now: Boottime) -> Bool { writtenAt.map { now - $0 >= interval } ?? true }

        mutating func write(_ new: Content, at now: Boottime) { (content, writtenAt) = (new, now) }

        var wakeUp: Boottime? { isDue ? writtenAt.map { $0 + interval } : nil }

        private var interval: Duration { .milliseconds(200) }
    }

    private var rows = File<[UnitRow]>()
    private var gate = File<GateStatus>()
    /// Why they could not be written last; nil once they were.
    private(set) var problem: String?

    /// The report of the gate that was written last; nil before the first write, and after a failed write.
    var report: GateStatus? { gate.content }

    /// The units that were written last; empty before the first write, and after a failed write.
    var units: [UnitRow] { rows.content ?? [] }

    /// Writes what has changed and may be written now, the report last. `current` tells the rows; nil if unknown.
    /// `haveOrders`: the orders for the mover are written, as far as is known.
    mutating func publish(
        _ new: GateStatus?, of service: ServiceName, haveOrders: Bool, at now: Boottime,
        current: () -> [UnitRow]?
    ) -> [GateEffect] {
        var effects: [GateEffect] = []
        if let new {
            let mayWait = report.map { new.differsInUnitsAlone(from: $0) } ?? false
            gate.isDue = new != report && mayWait && !gate.mayWrite(at: now)
            if new != report, !gate.isDue {
                gate.write(new, at: now)
                effects.append(.publishGate(service, new))
            }
        }
        // A write that has failed would have said so by now.
        if rows.content != nil, rows.mayWrite(at: now), haveOrders { problem = nil }
        rows.isDue = !rows.mayWrite(at: now)
        if !rows.isDue || !effects.isEmpty, let new = current(), new != rows.content {
            rows.write(new, at: now)
            if problem != nil { rows.isDue = true }
            effects.insert(.publishUnits(service, new), at: 0)
        }
        return effects
    }

    /// A file could not be written: the rows are due again in 5 s.
    mutating func writeFailed(_ problem: String, isDecided: Bool, at now: Boottime) {
        gate.content = nil
        guard isDecided else { return }
        rows = File(content: nil, writtenAt: now + .seconds(5), isDue: true)
        self.problem = problem
    }

    /// The orders are written once more: whether that has failed is known before the rows are due.
    mutating func ordersRetried(at now: Boottime) { (rows.writtenAt, rows.isDue) = (now, true) }

    /// Somebody has deleted the files: they are written again at once.
    mutating func filesDeleted() {
        gate.content = nil
        (rows, problem) = (File(), nil)
    }

    /// The since of a state: that of the last report as long as the gate is in the same state.
    func since(_ actual: GateStatus.Actual, _ wanted: Gate) -> GateStatus.Since? {
        guard let report, report.actual == actual, report.wanted == wanted else { return nil }
        return report.since
    }

    var wakeUp: Boottime? { [rows.wakeUp, gate.wakeUp].compactMap(\.self).min() }
}

extension GateMachine {
    /// Publishes the files of the gates that the event concerns.
    mutating func publish(_ batch: inout GateBatch, at now: Boottime) -> [GateEffect] {
        for unit in batch.units {
            for service in units[unit]?.services ?? [] { batch.recheck(service) }
        }
        let context = context(now)
        return batch.services.sorted().flatMap { gates[$0]?.publish(context) ?? [] }
    }
}

extension GateState {
    /// Publishes its files if they have changed, as soon as the units are known.
    mutating func publish(_ context: GateContext) -> [GateEffect] {
        let report = report(context)
        let isKnown = desired != nil && targets.areAttachedKnown
        let (targets, desired, missing) = (targets, desired, missing(context))
        return files.publish(
            report, of: service, haveOrders: ordersRetryAt == nil, at: context.now
        ) {
            guard isKnown else { return nil }
            let attached = targets.attached.sorted()
            return attached.compactMap {
                context.units[$0]?.row(of: service, missing: missing[$0])
            }
                + missing.filter { !attached.contains($0.key) }.sorted { $0.key < $1.key }
                .map { UnitRow($0.key, missing: $0.value, of: desired) }
        }
    }

    mutating func writeFailed(_ problem: String, at now: Boottime) {
        (orders, ordersRetryAt) = (nil, desired == nil ? nil : now + .seconds(5))
        files.writeFailed(problem, isDecided: desired != nil, at: now)
    }
}
