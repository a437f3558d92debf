import CivilTime

/// Something about gates that is worth a line in the log, said once.
package enum GateNotice: Hashable, Sendable {
    /// The gate stands as decided, and each of these units is as it should be after that time.
    case moved(ServiceName, Stand, took: Duration, units: [UnitName: Duration])
    case moveFailed(ServiceName, Move, problem: String)
    /// Somebody else has moved the gate; it is put back.
    case movedElsewhere(ServiceName, Stand)
    case unitTrouble(ServiceName, UnitName, UnitProblem)
    case busLost(problem: String)
    case busRecovered
    /// Units are attached to a service that is not configured.
    case orphaned(ServiceName, [UnitName])
    case unpublished(ServiceName, problem: String)
}

extension GateNotice {
    package var level: Notice.Level {
        switch self {
        case .moved: .notice
        case .moveFailed, .unpublished: .error
        case .movedElsewhere, .busLost, .orphaned: .warning
        case .unitTrouble(_, _, let problem):
            switch problem {
            case .late, .failed: .error
            case .killed, .intruding: .warning
            }
        case .busRecovered: .info
        }
    }

    /// The line: what happened, and what follows from it.
    package var sentence: String {
        switch self {
        case .moved(let service, let stand, let took, let units):
            "\(service): the gate is \(stand.gate.rawValue) after \(took.inMilliseconds)"
                + Self.list(units, stand.gate)
        case .moveFailed(let service, let move, let problem):
            "\(service): \(move.words): \(problem); trying again"
        case .movedElsewhere(let service, let stand):
            "\(service): somebody else has moved the gate; it is put back to "
                + stand.gate.rawValue
        case .unitTrouble(let service, let unit, let problem):
            "\(service): unit '\(unit)': \(problem.sentence)"
        case .busLost(let problem):
            "\(problem); no gate is moved until the bus is back, everything else goes on"
        case .busRecovered:
            "the bus is back, gates are moved again"
        case .orphaned(let service, let units):
            "service '\(service)' is not configured, but units are attached to it: "
                + units.sorted().map(\.text).joined(separator: ", ")
                + "; its gate stays as it is"
        case .unpublished(let service, let problem):
            "write the units of service '\(service)': \(problem); trying again"
        }
    }

    private static func list(_ units: [UnitName: Duration], _ gate: Gate) -> String {
        guard !units.isEmpty else { return "" }
        let order = units.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        // A line of a hundred names helps nobody: the slowest do, and units.json has all.
        let shown = order.suffix(listed).map { "\($0.key) \($0.value.inMilliseconds)" }
        let more = order.count > shown.count ? ["\(order.count - shown.count) more"] : []
        return ", its units too: " + (more + shown).joined(separator: ", ")
    }

    private static let listed = 8
}

extension Move {
    fileprivate var words: String {
        switch self {
        case .start(let target): "start '\(target.unit?.text ?? target.service.text)'"
        case .stop(let target): "stop '\(target.unit?.text ?? target.service.text)'"
        }
    }
}

extension Duration {
    fileprivate var inMilliseconds: String { "\(microseconds / 1000) ms" }
}

/// What there is to say of gates at one moment.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// What is wrong, a clause each.
    package var problems: [String]

    /// An overview; without arguments, of a host without gates.
    package init(isReady: Bool = true, problems: [String] = []) {
        self.isReady = isReady
        self.problems = problems
    }
}
