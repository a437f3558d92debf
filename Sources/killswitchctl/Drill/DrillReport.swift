import CivilTime
import Decision
import Gates
import JSON
import SystemdUnits
import _StringProcessing

/// The result of a drill: its table, and what has failed.
struct DrillReport {
    let service: ServiceName
    let state: State
    /// The longest that the gate was to stay closed.
    let limit: Duration
    var units: [DrilledUnit]
    /// The first problem of the drill itself: it explains the others.
    var problem: String?
    /// Whether everything was down before the gate was opened again, so that starts could be tried.
    var wasAllDown = false
    /// From the order until the gate was open again; nil if it is not.
    var closedFor: Duration?
    /// Whether the gate was seen to open, and is decided open at the end.
    var isOpen = false
    /// Whether the drill was broken off: a unit that it did not get to has not failed.
    var isInterrupted = false

    /// The units that have stopped as they should.
    var stopped: [UnitName] {
        units.filter { $0.stop != nil && $0.failures(in: self).isEmpty }.map(\.name)
    }

    /// The failures, for standard error; nil if the drill succeeded.
    var failure: String? { wholeProblem.map { "the drill of '\(service)' has failed: \($0)" } }

    /// What has failed, as a clause; nil if the drill succeeded.
    var wholeProblem: String? {
        let failed = units.filter { !$0.failures(in: self).isEmpty }.map(\.name.text)
        let names = failed.isEmpty ? nil : failed.joined(separator: ", ")
        let words = [problem, names].compactMap(\.self).joined(separator: "; ")
        return words.isEmpty ? nil : words
    }

    /// The table, the remarks about units, and the duration of the drill.
    var text: String {
        let header = ["UNIT", "KIND", "WAS", "STOP", "BY HAND", "START", "RESULT"]
        var lines = Columns(rows: [header] + units.map(cells)).lines()
        for unit in units {
            guard let words = problem(of: unit) ?? unit.remark else { continue }
            let line = "\(unit.name): \(words)".printable
            // A long line has a line for each clause.
            lines.append(line.count <= 80 ? line : line.replacing("; ", with: ";\n    "))
        }
        let state =
            closedFor.map { "was closed for \($0.shown)" } ?? "was not seen to open again"
        let end = isInterrupted ? ", and the drill was broken off" : ""
        lines.append("'\(service)' \(state)\(end)")
        return lines.joined(separator: "\n")
    }

    private func problem(of unit: DrilledUnit) -> String? {
        let failures = unit.failures(in: self)
        return failures.isEmpty ? nil : failures.joined(separator: "; ")
    }

    private func cells(_ unit: DrilledUnit) -> [String] {
        let byHand = unit.handStart?.isRefused.map { $0 ? "refused" : "accepted" }
        return [
            unit.name.text, unit.kind.word, unit.before.seen.active.rawValue,
            unit.stop?.shown ?? "-", byHand ?? "-", unit.start?.shown ?? "-",
            problem(of: unit) != nil ? "failed" : isInterrupted ? "-" : "ok",
        ]
    }

    /// The report as JSON; an unknown value is null.
    var json: JSON.Object {
        [
            "service": .string(service.text),
            "state": .string(state.rawValue),
            "ok": .bool(failure == nil && !isInterrupted),
            "open": .bool(isOpen),
            "interrupted": .bool(isInterrupted),
            "closed_for_ms": .optional(closedFor?.milliseconds),
            "problem": .optional(problem),
            "units": .objects(units.map(json)),
        ]
    }

    private func json(of unit: DrilledUnit) -> JSON.Object {
        [
            "name": .string(unit.name.text),
            "kind": .string(unit.kind.word),
            "was": .string(unit.before.seen.active.rawValue),
            "stop_ms": .optional(unit.stop?.milliseconds),
            "refused": unit.handStart?.isRefused.map { .bool($0) } ?? .null,
            "start_ms": .optional(unit.start?.milliseconds),
            "ok": .bool(problem(of: unit) == nil),
            "problem": .optional(problem(of: unit)),
            "remark": .optional(problem(of: unit) == nil ? unit.remark : nil),
        ]
    }
}

extension DrilledUnit.Kind {
    fileprivate var word: String {
        switch self {
        case .attached: "attached"
        case .dependent: "dependent"
        case .state: "state"
        }
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

extension Duration {
    fileprivate var milliseconds: Int64 { microseconds / 1000 }

    /// Milliseconds below ten seconds, else tenths of a second.
    fileprivate var shown: String {
        if milliseconds < 10_000 { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
