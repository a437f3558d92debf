import CivilTime
import Decision

/// The files of a gate as they were written last: `units.json` and `gate.json`.
struct GateFiles: Hashable, Sendable {
    private var rows = WrittenUnits()
    private(set) var report = WrittenGateStatus()

    /// Writes what has changed, and may be written now. The report is written last, and with current rows.
    /// `current` tells the rows; nil while they are not known.
    mutating func publish(
        _ new: GateStatus?, of service: ServiceName, at now: Boottime, current: () -> [UnitRow]?
    ) -> [GateEffect] {
        var effects: [GateEffect] = []
        if let new, report.replace(with: new, at: now) {
            effects.append(.publishGate(service, new))
        }
        let mayWrite = rows.mayWrite(at: now)
        if mayWrite || !effects.isEmpty, let new = current(), rows.replace(with: new, at: now) {
            effects.insert(.publishUnits(service, new), at: 0)
        }
        return effects
    }

    /// A file could not be written. Returns whether that is new.
    mutating func writeFailed(isDecided: Bool, at now: Boottime) -> Bool {
        report.fail()
        return isDecided && rows.fail(at: now)
    }

    /// Somebody has deleted the files: they are written again at once.
    mutating func filesDeleted() {
        report.fail()
        rows = WrittenUnits()
    }

    /// When what is due may be written.
    var wakeUp: Boottime? { [rows.wakeUp, report.wakeUp].compactMap(\.self).min() }
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
        return files.publish(report, of: service, at: context.now) {
            guard isKnown else { return nil }
            return targets.attached.sorted().compactMap { context.units[$0]?.row(of: service) }
                + missing.sorted { $0.key < $1.key }
                .map { UnitRow($0.key, missing: $0.value, of: desired) }
        }
    }

    /// A file could not be written.
    mutating func writeFailed(
        _ problem: String, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard files.writeFailed(isDecided: desired != nil, at: now) else { return }
        batch.log(.publishFailed(service, problem: problem))
    }
}

/// The rows of one service that were written last. They are written again when they change, at most
/// five times a second.
struct WrittenUnits: Hashable, Sendable {
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
