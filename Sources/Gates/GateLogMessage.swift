import CivilTime
package import Decision

/// A fact about gates that is worth a line in the log, announced once.
package enum GateLogMessage: Hashable, Sendable {
    /// The gate stands as decided, and each of these units is as it should be after that time. Other services keep
    /// units down that an open gate would start.
    case moved(
        ServiceName, DesiredGate, took: Duration, units: [UnitName: Duration],
        kept: [UnitName: [ServiceName]] = [:])
    case jobRefused(ServiceName, TargetJob, GateObstacle)
    /// Another process has moved the gate; it is put back.
    case movedElsewhere(ServiceName, DesiredGate)
    case unitProblem(ServiceName, UnitName, UnitProblem)
    /// These units of an open gate are not up in their time, and people do not see the page any more.
    case unitsSlow(ServiceName, [UnitName], after: Duration)
    case busLost(problem: String)
    case busRecovered
    /// Units are attached to a service that is not configured.
    case unitsOrphaned(ServiceName, [UnitName])
    case publishFailed(ServiceName, problem: String)
    /// The units that pass on notices could not be started in time.
    case noticeLost(ServiceName)
    /// The gate has refused so many starts of a unit that were not told yet; the verdict is why, as far as it is
    /// known. `isOver`: the gate is open by now.
    case startsRefused(ServiceName, UnitName, Int, isFirst: Bool, isOver: Bool, by: Verdict?)
    /// systemd has not answered a job for a while.
    case systemdSilent
    case systemdAnswers

    /// Who has to act on it.
    package var level: LogMessage.Level {
        switch self {
        case .moved, .startsRefused: .notice
        case .jobRefused, .publishFailed, .noticeLost: .error
        case .movedElsewhere, .busLost, .unitsOrphaned, .systemdSilent, .unitsSlow: .warning
        case .unitProblem(_, _, let problem): problem.level
        case .busRecovered, .systemdAnswers: .info
        }
    }

    /// The line: the fact, and its consequence.
    package var sentence: String {
        switch self {
        case .moved(let service, let desired, let took, let units, let kept):
            "\(service): gate \(desired.gate == .open ? "opened" : "closed") in \(took.inMilliseconds)"
                + Self.list(units, desired.gate) + Self.list(kept)
        case .jobRefused(let service, let job, let problem):
            "\(service): \(job.words): \(problem.refusal); retrying"
        case .movedElsewhere(let service, let desired):
            "\(service): somebody else has moved the gate; killswitchd moves it back to "
                + desired.gate.rawValue
        case .unitProblem(let service, let unit, let problem):
            "\(service): unit '\(unit)': \(problem.sentence)"
        case .unitsSlow(let service, let units, let time):
            "\(service): not up after \(time.wholeSeconds) s: "
                + units.sorted().map(\.text).joined(separator: ", ")
                + "; web servers send requests to the service from now on"
        case .busLost(let problem):
            "\(problem); no gate is moved until the bus is back; nothing else is affected"
        case .busRecovered: "the bus is back; gates are moved again"
        case .unitsOrphaned(let service, let units):
            "service '\(service)' is not configured, but units are attached to it: "
                + units.sorted().map(\.text).joined(separator: ", ")
                + "; its gate stays as it is"
        case .publishFailed(let service, let problem):
            "cannot write the units of service '\(service)': \(problem); retrying"
        case .noticeLost(let service):
            "\(service): the units for its notice could not be started for an hour; giving up, because "
                + "the notice is too old"
        case .startsRefused(let service, let unit, let count, let isFirst, let isOver, let verdict):
            "\(service): \(Self.starts(count, isFirst)) of unit '\(unit)' refused"
                + (isOver ? " before the gate opened" : ": \(Self.cause(verdict))")
        case .systemdSilent: "\(GateObstacle.silence); gates move as soon as it answers"
        case .systemdAnswers: "systemd answers again; gates are moved"
        }
    }

    /// The notice with the verdict of its service, where that is why.
    package func explained(by verdict: (ServiceName) -> Verdict?) -> GateLogMessage {
        guard
            case .startsRefused(let service, let unit, let count, let isFirst, let isOver, nil) =
                self
        else { return self }
        return .startsRefused(
            service, unit, count, isFirst: isFirst, isOver: isOver, by: verdict(service))
    }

    private static func starts(_ count: Int, _ isFirst: Bool) -> String {
        let more = isFirst ? "" : "more "
        return count == 1 ? "\(isFirst ? "a" : "one more") start" : "\(count) \(more)starts"
    }

    private static func cause(_ verdict: Verdict?) -> String {
        verdict.map { "the service is \($0.state.rawValue); \($0.cause)" } ?? "the gate is closed"
    }

    private static func list(_ units: [UnitName: Duration], _ gate: Gate) -> String {
        guard !units.isEmpty else { return "" }
        let order = units.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        // The slowest units are enough for a line; units.json has all.
        let shown = order.suffix(listed).map { "\($0.key) \($0.value.inMilliseconds)" }
        return "; units \(gate == .open ? "started" : "stopped"): "
            + shown.andMore(of: order.count).joined(separator: ", ")
    }

    private static func list(_ kept: [UnitName: [ServiceName]]) -> String {
        let shown = kept.sorted { $0.key < $1.key }.prefix(listed).map { unit, services in
            "\(unit) stays down because of " + services.map { "'\($0)'" }.joined(separator: ", ")
        }
        return shown.andMore(of: kept.count).map { "; \($0)" }.joined()
    }

    private static let listed = 8
}

extension TargetJob {
    fileprivate var words: String {
        "\(isStart ? "start" : "stop") '\(target.unit?.text ?? target.service.text)'"
    }
}

extension Duration {
    fileprivate var inMilliseconds: String { "\(microseconds / 1000) ms" }
}
