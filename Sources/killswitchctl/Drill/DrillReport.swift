import CivilTime
import Decision
import Drills
import Gates
import JSON

/// The findings of a drill, as they are printed.
extension DrillFindings {
    /// The failures, for standard error; nil if the drill succeeded.
    var failure: String? {
        wholeProblem.map { "the drill of '\(service)' has failed: \($0)" }
    }

    /// What has failed, as a clause; nil if the drill succeeded.
    var wholeProblem: String? {
        let units = outcomes.filter { !$0.failures.isEmpty }.map(\.unit.name.text)
        let names = units.isEmpty ? nil : units.joined(separator: ", ")
        let words = [problem, names].compactMap(\.self).joined(separator: "; ")
        return words.isEmpty ? nil : words
    }

    /// The table, the remarks about units, and the duration of the drill.
    var text: String {
        let header = ["UNIT", "KIND", "WAS", "STOP", "BY HAND", "START", "RESULT"]
        var lines = Columns(rows: [header] + outcomes.map(cells)).lines()
        for outcome in outcomes {
            guard let words = problem(of: outcome) ?? outcome.remark else { continue }
            lines.append(Self.folded("\(outcome.unit.name): \(words)".printable))
        }
        let state =
            closedFor.map { "was closed for \($0.shown)" }
            ?? (isOpen ? "is open" : "is still closed")
        let end = isInterrupted ? ", and the drill was broken off" : ""
        lines.append("'\(service)' \(state)\(end)")
        return lines.joined(separator: "\n")
    }

    /// A long line, with a line for each clause.
    private static func folded(_ line: String) -> String {
        line.count <= 80 ? line : line.replacing("; ", with: ";\n    ")
    }

    private func problem(of outcome: UnitOutcome) -> String? {
        let sentences = outcome.failures.map {
            $0.sentence(of: outcome.unit.name, in: service)
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
    }

    private func cells(_ outcome: UnitOutcome) -> [String] {
        let byHand = outcome.isRefused.map { $0 ? "refused" : "accepted" }
        return [
            outcome.unit.name.text, outcome.unit.kind.word,
            outcome.unit.before.seen.active.rawValue, outcome.stop?.shown ?? "-",
            byHand ?? "-", outcome.start?.shown ?? "-",
            !outcome.failures.isEmpty ? "failed" : isInterrupted ? "-" : "ok",
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
            "units": .array(outcomes.map { .object(json(of: $0)) }),
        ]
    }

    private func json(of outcome: UnitOutcome) -> JSON.Object {
        [
            "name": .string(outcome.unit.name.text),
            "kind": .string(outcome.unit.kind.word),
            "was": .string(outcome.unit.before.seen.active.rawValue),
            "stop_ms": .optional(outcome.stop?.milliseconds),
            "refused": outcome.isRefused.map { .bool($0) } ?? .null,
            "start_ms": .optional(outcome.start?.milliseconds),
            "ok": .bool(outcome.failures.isEmpty),
            "problem": .optional(problem(of: outcome)),
            "remark": .optional(outcome.remark),
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

extension Duration {
    fileprivate var milliseconds: Int64 { microseconds / 1000 }

    /// Milliseconds below ten seconds, else tenths of a second.
    fileprivate var shown: String {
        if milliseconds < 10_000 { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
