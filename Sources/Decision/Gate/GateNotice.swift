import CivilTime

/// A fact about gates that is worth a line in the log, announced once.
package enum GateNotice: Hashable, Sendable {
    /// The gate stands as decided, and each of these units is as it should be after that time.
    case moved(ServiceName, DesiredGate, took: Duration, units: [UnitName: Duration])
    case jobRefused(ServiceName, TargetJob, GateObstacle)
    /// Another process has moved the gate; it is put back.
    case movedElsewhere(ServiceName, DesiredGate)
    case unitProblem(ServiceName, UnitName, UnitProblem)
    case busLost(problem: String)
    case busRecovered
    /// Units are attached to a service that is not configured.
    case unitsOrphaned(ServiceName, [UnitName])
    case publishFailed(ServiceName, problem: String)
    /// The units that pass on notices could not be started in time.
    case noticeLost(ServiceName)
}

extension GateNotice {
    /// Who has to act on it.
    package var level: Notice.Level {
        switch self {
        case .moved: .notice
        case .jobRefused, .publishFailed, .noticeLost: .error
        case .movedElsewhere, .busLost, .unitsOrphaned: .warning
        case .unitProblem(_, _, let problem): problem.level
        case .busRecovered: .info
        }
    }

    /// The line: the fact, and its consequence.
    package var sentence: String {
        switch self {
        case .moved(let service, let desired, let took, let units):
            "\(service): the gate is \(desired.gate.rawValue) after \(took.inMilliseconds)"
                + Self.list(units, desired.gate)
        case .jobRefused(let service, let job, let problem):
            "\(service): \(job.words): \(problem.refusal); retrying"
        case .movedElsewhere(let service, let desired):
            "\(service): somebody else has moved the gate; it is put back to "
                + desired.gate.rawValue
        case .unitProblem(let service, let unit, let problem):
            "\(service): unit '\(unit)': \(problem.sentence)"
        case .busLost(let problem):
            "\(problem); no gate is moved until the bus is back, everything else goes on"
        case .busRecovered: "the bus is back, gates are moved again"
        case .unitsOrphaned(let service, let units):
            "service '\(service)' is not configured, but units are attached to it: "
                + units.sorted().map(\.text).joined(separator: ", ")
                + "; its gate stays as it is"
        case .publishFailed(let service, let problem):
            "write the units of service '\(service)': \(problem); retrying"
        case .noticeLost(let service):
            "\(service): for an hour the units that pass on notices could not be started; they are not "
                + "started late"
        }
    }

    private static func list(_ units: [UnitName: Duration], _ gate: Gate) -> String {
        guard !units.isEmpty else { return "" }
        let order = units.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        // The slowest units are enough for a line; units.json has all.
        let shown = order.suffix(listed).map { "\($0.key) \($0.value.inMilliseconds)" }
        let more = order.count > shown.count ? ["\(order.count - shown.count) more"] : []
        return ", its units too: " + (shown + more).joined(separator: ", ")
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

/// The state of all gates at one moment, for the daemon's status.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// The problems: of the bus, then of gates, then of the starts for notices, then of units.
    package let problems: [GateProblem]
}
