package import Decision

/// The result of a drill.
package struct DrillFindings: Hashable, Sendable {
    package let service: ServiceName
    package let state: State
    /// The outcome of each unit, in the order of the plan.
    package let outcomes: [UnitOutcome]
    /// A problem of the drill itself, not of a unit; nil without a problem.
    package let problem: String?
    /// From the order until the gate was open again; nil if it is not.
    package let closedFor: Duration?
    package let isOpen: Bool
    /// Whether the drill was broken off: some units were not checked.
    package let isInterrupted: Bool

    /// The units that have stopped as they should.
    package var stopped: [UnitName] {
        outcomes.filter { $0.stop != nil && $0.failures.isEmpty }.map(\.unit.name)
    }
}

/// The outcome of a drill for a unit.
package struct UnitOutcome: Hashable, Sendable {
    package let unit: DrilledUnit
    /// How long it took to stop: from the order, or for a unit of the forced state from the
    /// reopening. Nil if it did not stop, or was down already.
    package let stop: Duration?
    /// Whether a start by hand was refused; nil if none was tried.
    package let isRefused: Bool?
    /// How long it took to start: from the reopening, or for a unit of the forced state from the
    /// order. Nil if it did not start.
    package let start: Duration?
    /// The failures in their order; empty if the drill succeeded for this unit.
    package let failures: [UnitFailure]
    package let remark: String?
}

/// Why a drill has failed with a unit.
package enum UnitFailure: Hashable, Sendable {
    /// It was not down when the gate had to open again.
    case notDown(within: Duration)
    /// It came down because its stop limit was over.
    case killed(limit: Duration)
    /// A start by hand brought it up behind the closed gate.
    case startAccepted
    /// It could not be found out whether a start by hand is refused.
    case startNotTried(String)
    /// It has failed with this result instead of running.
    case failed(result: String)
    /// It was still on its way up when its start limit was over.
    case late(limit: Duration)
    /// It came up again, and went.
    case endedAgain
    /// It ran before, and nothing has started it.
    case notStarted
    /// It required this unit and stopped with it, and nothing has started it.
    case notBack(on: UnitName)
    /// It is to run in the forced state, and did not.
    case absent
    /// It runs in the forced state alone, and still did after that.
    case overstayed
    case unknown

    /// The failure as a clause about a unit of a service.
    package func sentence(of unit: UnitName, in service: ServiceName) -> String {
        switch self {
        case .notDown(let limit): "still running after \(limit.inSeconds)"
        case .killed(let limit):
            "did not stop within its limit of \(limit.inSeconds), and systemd killed it"
        case .startAccepted: "a start by hand succeeded although the gate was closed"
        case .startNotTried(let cause):
            "could not test whether a start by hand is refused: \(cause)"
        case .failed(let result): "failed with result '\(result)'"
        case .late(let limit): "not started after \(limit.inSeconds)"
        case .endedAgain: "started again, but then ended"
        case .notStarted: "was not started again: the gate does not start it"
        case .notBack(let other):
            "stopped with \(other) and was not started again"
                + (unit.type == "target"
                    ? "" : "; attach it too: killswitchctl attach \(service) \(unit)")
        case .absent: "did not run while the gate was closed"
        case .overstayed: "still runs although the gate is open again"
        case .unknown: "systemd did not answer a question about this unit"
        }
    }
}
