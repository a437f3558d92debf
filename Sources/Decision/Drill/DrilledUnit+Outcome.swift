import CivilTime

extension DrilledUnit {
    /// The outcome of this unit by the observations and the times of the drill.
    package func outcome(_ observations: UnitObservations, _ times: DrillTimes) -> UnitOutcome {
        let failures = failures(observations, times)
        return UnitOutcome(
            unit: self, stop: stop(observations, times),
            isRefused: observations.handStart?.isRefused,
            start: start(observations, times), failures: failures,
            remark: failures.isEmpty ? remark(observations, times) : nil)
    }

    private func stop(_ observations: UnitObservations, _ times: DrillTimes) -> Duration? {
        switch kind {
        case .attached, .dependent:
            guard wasUp else { return nil }
            return observations.latest(\.downSince, from: times.ordered).map { $0 - times.ordered }
        case .state:
            guard let reopened = times.reopened else { return nil }
            return observations.latest(\.downSince, from: reopened).map { $0 - reopened }
        }
    }

    private func start(_ observations: UnitObservations, _ times: DrillTimes) -> Duration? {
        switch kind {
        case .attached, .dependent:
            guard let reopened = times.reopened else { return nil }
            return observations.ended?.arrival(since: reopened).map { $0 - reopened }
        case .state:
            return observations.closed?.arrival(since: times.ordered).map { $0 - times.ordered }
        }
    }

    private func failures(_ observations: UnitObservations, _ times: DrillTimes) -> [UnitFailure] {
        let failures =
            switch kind {
            case .attached:
                [
                    stopFailure(observations, times), handStartFailure(observations, times),
                    returnFailure(observations, times),
                ]
            case .dependent: [stopFailure(observations, times), returnFailure(observations, times)]
            case .state:
                [absenceFailure(observations, times), overstayFailure(observations, times)]
            }
        // The failure `unknown` is listed once.
        return failures.compactMap(\.self).filter { $0 != .unknown }
            + (failures.contains(.unknown) ? [.unknown] : [])
    }

    private func stopFailure(_ observations: UnitObservations, _ times: DrillTimes) -> UnitFailure?
    {
        guard wasUp else { return nil }
        guard let closed = observations.closed else { return times.wasInterrupted ? nil : .unknown }
        if closed.seen.active.isDown {
            return closed.wasKilled(since: times.ordered) ? .killed(limit: stopLimit) : nil
        }
        // A dependent that systemd did not stop may stay up.
        if kind != .attached && closed.seen.isAtRestUp { return nil }
        return times.wasInterrupted ? nil : .notDown(within: times.limit)
    }

    private func handStartFailure(_ observations: UnitObservations, _ times: DrillTimes)
        -> UnitFailure?
    {
        switch observations.handStart {
        case .refused: nil
        case .accepted: .startAccepted
        case .unclear(let word): .startNotTried("it ended as '\(word)'")
        case nil:
            times.wasAllDown && !times.wasInterrupted
                ? .startNotTried("there was no time left to try one") : nil
        }
    }

    /// Why it is not as it was before the drill. A unit that was down and is started by the gate
    /// need not run: another gate may forbid it.
    private func returnFailure(_ observations: UnitObservations, _ times: DrillTimes)
        -> UnitFailure?
    {
        guard let reopened = times.reopened else { return nil }
        guard let ended = observations.ended else { return times.wasInterrupted ? nil : .unknown }
        switch ended.seen.active {
        case .active, .reloading, .maintenance:
            return nil
        case .failed:
            let hasTried = ended.leftDown.map { $0 >= reopened } ?? false
            guard hasTried || mustComeBack else { return nil }
            return hasTried ? .failed(result: ended.result ?? "for no known reason") : absence
        case .activating, .deactivating:
            guard mustComeBack || isStarted, !times.wasInterrupted else { return nil }
            return .late(limit: startLimit)
        case .inactive:
            guard mustComeBack, !times.wasInterrupted else { return nil }
            guard ended.arrival(since: reopened) != nil else { return absence }
            // A unit that was up has to stay up; a unit that was starting may have ended its work.
            return before.seen.active == .activating ? nil : .endedAgain
        }
    }

    private var absence: UnitFailure {
        switch kind {
        case .attached, .state: .notStarted
        case .dependent(let unit): .notBack(on: unit)
        }
    }

    private func absenceFailure(_ observations: UnitObservations, _ times: DrillTimes)
        -> UnitFailure?
    {
        guard isStarted, let closed = observations.closed, !times.wasInterrupted,
            closed.arrival(since: times.ordered) == nil
        else { return nil }
        if closed.seen.active == .failed {
            return .failed(result: closed.result ?? "for no known reason")
        }
        // It waits until all others are down.
        return times.wasAllDown ? .absent : nil
    }

    private func overstayFailure(_ observations: UnitObservations, _ times: DrillTimes)
        -> UnitFailure?
    {
        guard times.reopened != nil, let ended = observations.ended else { return nil }
        if ended.wasKilled(since: times.ordered) { return .killed(limit: stopLimit) }
        return ended.seen.active.isDown || times.wasInterrupted ? nil : .overstayed
    }

    private func remark(_ observations: UnitObservations, _ times: DrillTimes) -> String? {
        if let problem = observations.reportedProblem { return "killswitchd says: \(problem)" }
        if wasUp, let closed = observations.closed, closed.seen.active == .failed {
            return "it stopped as failed: \(closed.result ?? "for no known reason")"
        }
        guard kind == .attached, times.reopened != nil, let ended = observations.ended else {
            return nil
        }
        if !wasUp, ended.seen.isAtRestUp { return "it was down, and the opening has started it" }
        guard wasUp, !isStarted, ended.seen.active.isDown else { return nil }
        return before.triggeredBy.isEmpty
            ? "it was at work, which is not begun again" : "it is down until something triggers it"
    }
}

extension UnitSnapshot {
    /// When it came up after a moment, or ended with success after a start.
    fileprivate func arrival(since moment: Uptime) -> Uptime? {
        switch seen.active {
        case .active, .reloading:
            return upSince.flatMap { $0 >= moment ? $0 : nil }
        case .inactive:
            guard let leftDown, leftDown >= moment, result == nil || result == "success" else {
                return nil
            }
            return downSince
        case .failed, .activating, .deactivating, .maintenance:
            return nil
        }
    }

    fileprivate func wasKilled(since moment: Uptime) -> Bool {
        seen.active == .failed && result == "timeout" && downSince.map { $0 >= moment } ?? false
    }
}

extension UnitObservations {
    /// The first time stamp that is not older than `moment`: of the snapshot behind the closed
    /// gate, or of the snapshot at the end.
    fileprivate func latest(
        _ stamp: KeyPath<UnitSnapshot, Uptime?>, from moment: Uptime
    ) -> Uptime? {
        for snapshot in [closed, ended] {
            if let time = snapshot?[keyPath: stamp], time >= moment { return time }
        }
        return nil
    }
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
