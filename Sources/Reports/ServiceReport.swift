import CivilTime
import Decision
import Gates
import JSON

/// What a report tells of one service: what was decided, and whether the units have obeyed.
package struct ServiceReport {
    /// How far a decision is, by OpAMP's RemoteConfigStatuses. A service that is not decided has none: OpAMP's UNSET.
    package enum Status: String, Sendable {
        /// The gate is being moved, or units have not obeyed yet.
        case applying
        /// The gate and every unit are as decided; where the daemon moves no gates, the files say what was decided.
        case applied
        /// The gate cannot be moved, a unit is past its limit, or a unit is not as the gate wants it and stays so.
        case failed
    }

    private let view: Overview.ServiceView
    private let gate: GateStatus?
    private let rows: [UnitRow]
    /// Nil while the service is not decided, and if it is only observed.
    let status: Status?
    private let problem: String?

    init(_ view: Overview.ServiceView, in overview: Overview, _ gates: GateMachine?) {
        self.view = view
        let shown = gates?.view(of: view.name, at: overview.now.boot)
        (gate, rows) = (shown?.report, shown?.units ?? [])
        guard let wanted = view.record?.verdict.gate, view.isEnforced else {
            (status, problem) = (nil, nil)
            return
        }
        guard overview.condition.gates != nil else {
            (status, problem) = (.applied, nil)
            return
        }
        guard let gate, gate.wanted == wanted else {
            (status, problem) = (.applying, nil)
            return
        }
        let failure = gate.units.firstFailure
        switch gate.actual {
        case .stuck: (status, problem) = (.failed, gate.problem?.sentence ?? failure)
        case .open where wanted == .open, .closed where wanted == .closed:
            problem = gate.problem?.sentence ?? failure ?? gate.units.firstRest(behind: wanted)
            let isOver = failure != nil || gate.units.resting == gate.units.unwanted
            status = gate.units.isComplete ? .applied : isOver ? .failed : .applying
        case .open, .closed, .opening, .closing, nil:
            problem = gate.problem?.sentence ?? failure
            status = failure == nil ? .applying : .failed
        }
    }

    /// Whether it is decided, and each unit is as wanted or past its limit.
    var isSettled: Bool {
        switch status {
        case .applied: true
        case .applying: false
        case nil: view.record?.verdict.gate != nil
        case .failed:
            gate.map { $0.actual == .stuck || $0.units.haveEnded(isMoving: isMoving) } ?? true
        }
    }

    private var isMoving: Bool { gate?.actual == .opening || gate?.actual == .closing }

    var name: ServiceName { view.name }

    /// The object in the document. The service asks for a good drill each `drillEvery`.
    func json(drillEvery: Duration?) -> JSON.Object {
        let published = PublishedFacts(view.record, of: view.name)
        var object = JSON.Object()
        for field in Self.fields {
            object[field.name] = field.value(in: published).json(in: .utc)
            switch field.name {
            case "gate": object["actual"] = .optional(gate?.actual?.rawValue)
            case "stale": object["held"] = .bool(view.isHeld)
            default: break
            }
        }
        object["enforced"] = .bool(view.isEnforced)
        object["status"] = .optional(status?.rawValue)
        object["armed"] = .null
        object["error_message"] = status == .failed ? .optional(problem) : .null
        object["units_unwanted"] = .number(Number(Int64(unwanted.count)))
        object["units"] = .objects(rows.prefix(Self.mostUnits).map(\.report))
        object["drill"] = drill(every: drillEvery)
        object["runbook"] = .optional(view.runbook)
        return object
    }

    private static let fields = PublishedFacts.fields(
        on: .report, last: ["source", "version", "author", "stale", "generation", "override"])

    /// So many units are named at most: a service may have thousands, and the server limits what it takes.
    private static let mostUnits = 100

    var unwanted: Set<UnitName> { gate?.units.unwanted ?? [] }

    /// The last drill; null for a service that had none and asks for none.
    private func drill(every: Duration?) -> JSON.Value {
        let last = view.drill
        guard last != nil || every != nil else { return .null }
        let stopped = every == nil ? nil : last?.result.stopped
        return .object([
            "at": timestamp(last?.result.at),
            "good": last.map { .bool($0.result.isGood) } ?? .null,
            "problem": .optional(last?.result.problem),
            "last_good": timestamp(last?.lastGood),
            "every": .optional(every?.wholeSeconds),
            "stopped": stopped.map { .strings($0.prefix(Self.mostUnits).map(\.text)) } ?? .null,
        ])
    }
}

extension UnitRow {
    /// The unit in the document: less than in `units.json`.
    fileprivate var report: JSON.Object {
        [
            "name": .string(name.text), "as_wanted": isAsWanted.map { .bool($0) } ?? .null,
            "active": .optional(seen?.active.rawValue), "problem": .optional(problem),
            "took_ms": .optional(took.map { $0.microseconds / 1000 }),
            "held_by": .strings(keepers.map(\.text)),
        ]
    }
}

extension UnitCount {
    /// Whether each unit is as wanted, or has failed to become so. While a gate moves, a unit at rest is yet to come.
    fileprivate func haveEnded(isMoving: Bool) -> Bool {
        unwanted.allSatisfy { problems[$0] != nil || !isMoving && resting.contains($0) }
    }

    /// The first unit that is not as the gate wants it, and stays so; nil without one. An administrator has stopped it.
    fileprivate func firstRest(behind gate: Gate) -> String? {
        resting.min().map { "unit '\($0)': it is not \(gate == .open ? "up" : "down")" }
    }

    /// The first unit that is not as wanted, and will not be by itself, with the cause; nil without one.
    fileprivate var firstFailure: String? {
        let failed = problems.filter { unwanted.contains($0.key) }.min { $0.key < $1.key }
        return failed.map { "unit '\($0.key)': \($0.value.sentence)" }
    }
}

/// RFC 3339 in UTC; null for no time.
func timestamp(_ instant: Instant?) -> JSON.Value { .optional(instant.map(Zone.utc.rfc3339)) }
