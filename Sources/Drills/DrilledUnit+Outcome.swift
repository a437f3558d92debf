package import CivilTime
package import Gates

extension DrilledUnit {
    /// The outcome of this unit by the observations and the times of the drill.
    package func outcome(_ observations: UnitObservations, _ times: DrillTimes) -> UnitOutcome {
        UnitEvaluation(unit: self, seen: observations, times: times).outcome
    }
}

/// The observations of a unit during a drill.
package struct UnitObservations: Hashable, Sendable {
    /// The unit behind the closed gate, read just before the drill reopens the gate.
    package var closed: UnitSnapshot?
    package var ended: UnitSnapshot?
    /// The result of a start by hand behind the closed gate; nil if none was tried.
    package var handStart: ManualStart?
    package var reportedProblem: String?

    package init() {}
}

/// The times of the steps of a drill.
package struct DrillTimes: Hashable, Sendable {
    package var ordered: Uptime
    /// When the drill asked for the gate to reopen; nil if it did not.
    package var reopened: Uptime?
    /// The longest that the gate was to stay closed.
    package var limit: Duration
    /// Whether everything was down before the gate was opened again, so that starts could be tried.
    package var wasAllDown = false
    /// Whether the drill was broken off: a unit that it did not get to has not failed.
    package var wasInterrupted = false

    /// The times of a drill that has given its order.
    package init(ordered: Uptime, limit: Duration) {
        self.ordered = ordered
        self.limit = limit
    }
}

/// Judges one unit by its observations.
private struct UnitEvaluation {
    let unit: DrilledUnit
    let seen: UnitObservations
    let times: DrillTimes

    var outcome: UnitOutcome {
        let failures = failures
        return UnitOutcome(
            unit: unit, stop: stop, isRefused: seen.handStart?.isRefused, start: start,
            failures: failures, remark: failures.isEmpty ? remark : nil)
    }

    private var stop: Duration? {
        switch unit.kind {
        case .attached, .dependent: unit.wasUp ? stop(after: times.ordered) : nil
        case .state: times.reopened.flatMap(stop(after:))
        }
    }

    /// The time from `moment` until the unit first came down; nil if it did not.
    private func stop(after moment: Uptime) -> Duration? {
        let stops = [seen.closed?.downSince, seen.ended?.downSince].compactMap(\.self)
        return stops.first { $0 >= moment }.map { $0 - moment }
    }

    private var start: Duration? {
        switch unit.kind {
        case .attached, .dependent: times.reopened.flatMap { seen.ended?.start(after: $0) }
        case .state: seen.closed?.start(after: times.ordered)
        }
    }

    private var failures: [UnitFailure] {
        let failures =
            switch unit.kind {
            case .attached: [stopFailure, handStartFailure, returnFailure]
            case .dependent: [stopFailure, returnFailure]
            case .state: [absenceFailure, overstayFailure]
            }
        // The failure `unknown` is listed once.
        return failures.compactMap(\.self).filter { $0 != .unknown }
            + (failures.contains(.unknown) ? [.unknown] : [])
    }

    private var stopFailure: UnitFailure? {
        guard unit.wasUp else { return nil }
        guard let closed = seen.closed else { return times.wasInterrupted ? nil : .unknown }
        if closed.seen.active.isDown {
            return closed.wasKilled(since: times.ordered) ? .killed(limit: unit.stopLimit) : nil
        }
        // A dependent that systemd did not stop may stay up.
        if unit.kind != .attached && closed.seen.isAtRestUp { return nil }
        return times.wasInterrupted ? nil : .notDown(within: times.limit)
    }

    private var handStartFailure: UnitFailure? {
        switch seen.handStart {
        case .refused: nil
        case .accepted: .startAccepted
        case .unclear(let word): .startNotTried("the start ended as '\(word)'")
        case nil:
            times.wasAllDown && !times.wasInterrupted
                ? .startNotTried("there was no time left to try one") : nil
        }
    }

    /// Why it is not as it was. A unit that was down need not run: another gate may forbid it.
    private var returnFailure: UnitFailure? {
        guard let reopened = times.reopened else { return nil }
        guard let ended = seen.ended else { return times.wasInterrupted ? nil : .unknown }
        switch ended.seen.active {
        case .active, .reloading, .maintenance: return nil
        case .failed:
            if let left = ended.leftDown, left >= reopened { return .failed(result: ended.failure) }
            return unit.mustComeBack ? absence : nil
        case .activating, .deactivating:
            guard unit.mustComeBack || unit.isStarted, !times.wasInterrupted else { return nil }
            return .late(limit: unit.startLimit)
        case .inactive:
            guard unit.mustComeBack, !times.wasInterrupted else { return nil }
            guard ended.start(after: reopened) != nil else { return absence }
            // A unit that was up has to stay up; a unit that was starting may have ended its work.
            return unit.before.seen.active == .activating ? nil : .endedAgain
        }
    }

    private var absence: UnitFailure {
        if case .dependent(let other) = unit.kind { .notBack(on: other) } else { .notStarted }
    }

    private var absenceFailure: UnitFailure? {
        guard unit.isStarted, let closed = seen.closed, !times.wasInterrupted,
            closed.start(after: times.ordered) == nil
        else { return nil }
        if closed.seen.active == .failed { return .failed(result: closed.failure) }
        // It waits until all others are down.
        return times.wasAllDown ? .absent : nil
    }

    private var overstayFailure: UnitFailure? {
        guard times.reopened != nil, let ended = seen.ended else { return nil }
        if ended.wasKilled(since: times.ordered) { return .killed(limit: unit.stopLimit) }
        return ended.seen.active.isDown || times.wasInterrupted ? nil : .overstayed
    }

    private var remark: String? {
        if let problem = seen.reportedProblem { return "killswitchd says: \(problem)" }
        if unit.wasUp, let closed = seen.closed, closed.seen.active == .failed {
            return "stopped with result '\(closed.failure)'"
        }
        guard unit.kind == .attached, times.reopened != nil, let ended = seen.ended else {
            return nil
        }
        guard unit.wasUp else {
            return ended.seen.isAtRestUp ? "was stopped before; the opening started it" : nil
        }
        guard !unit.isStarted, ended.seen.active.isDown else { return nil }
        return unit.before.triggeredBy.isEmpty
            ? "was stopped at its work, which is not started again"
            : "stays stopped until something triggers it"
    }
}

extension UnitSnapshot {
    /// The time from `moment` until the unit came up, or ended with success; nil if it did neither.
    fileprivate func start(after moment: Uptime) -> Duration? {
        switch seen.active {
        case .active, .reloading: return upSince.flatMap { $0 >= moment ? $0 - moment : nil }
        case .inactive:
            guard let leftDown, leftDown >= moment, result == nil || result == "success" else {
                return nil
            }
            return downSince.map { $0 - moment }
        case .failed, .activating, .deactivating, .maintenance: return nil
        }
    }

    fileprivate func wasKilled(since moment: Uptime) -> Bool {
        seen.active == .failed && result == "timeout" && downSince.map { $0 >= moment } ?? false
    }

    fileprivate var failure: String { result ?? "unknown" }
}

extension ManualStart {
    fileprivate var isRefused: Bool? {
        switch self {
        case .refused: true
        case .accepted: false
        case .unclear: nil
        }
    }
}
