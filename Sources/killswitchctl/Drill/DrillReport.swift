import CivilTime
import Decision
import JSON

/// The findings of a drill, as they are printed.
struct DrillReport {
    private let findings: DrillFindings

    /// The report of these findings.
    init(_ findings: DrillFindings) { self.findings = findings }

    /// The failures, for standard error; nil if everything went well.
    var failure: String? {
        let names = findings.outcomes.filter { !$0.failures.isEmpty }.map(\.unit.name.text)
        guard findings.problem != nil || !names.isEmpty else { return nil }
        let words =
            [findings.problem].compactMap(\.self)
            + (names.isEmpty ? [] : [names.joined(separator: ", ")])
        return
            "the drill of '\(findings.service)' has failed: \(words.joined(separator: "; "))"
    }

    /// The table, the remarks about single units, and the total time.
    var text: String {
        let header = ["UNIT", "KIND", "WAS", "STOP", "BY HAND", "START", "RESULT"]
        var lines = Columns(rows: [header] + findings.outcomes.map(cells)).lines
        for outcome in findings.outcomes {
            let words = problem(of: outcome) ?? outcome.remark
            if let words { lines.append(Self.folded("\(outcome.unit.name): \(words)")) }
        }
        let end = findings.isInterrupted ? ", and the drill was broken off" : ""
        if let closedFor = findings.closedFor {
            lines.append("'\(findings.service)' was closed for \(closedFor.shown)\(end)")
        } else {
            lines.append(
                "'\(findings.service)' is \(findings.isOpen ? "open" : "still closed")\(end)"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// A long line, split after each clause.
    private static func folded(_ line: String) -> String {
        line.count <= 80 ? line : line.replacing("; ", with: ";\n    ")
    }

    private func problem(of outcome: UnitOutcome) -> String? {
        outcome.failures.isEmpty
            ? nil
            : outcome.failures.map {
                $0.sentence(of: outcome.unit.name, in: findings.service)
            }
            .joined(separator: "; ")
    }

    private func cells(_ outcome: UnitOutcome) -> [String] {
        let byHand = outcome.isRefused.map { $0 ? "refused" : "accepted" }
        return [
            outcome.unit.name.text, outcome.unit.kind.word,
            outcome.unit.before.seen.active.rawValue,
            outcome.stop?.shown ?? "-", byHand ?? "-", outcome.start?.shown ?? "-",
            !outcome.failures.isEmpty ? "failed" : findings.isInterrupted ? "-" : "ok",
        ]
    }

    /// The report for programs; an absent fact is null.
    var json: JSON.Object {
        [
            "service": .string(findings.service.text),
            "state": .string(findings.state.rawValue),
            "ok": .bool(failure == nil && !findings.isInterrupted),
            "open": .bool(findings.isOpen),
            "interrupted": .bool(findings.isInterrupted),
            "closed_for_ms": findings.closedFor.inMilliseconds,
            "problem": findings.problem.map { .string($0) } ?? .null,
            "units": .array(findings.outcomes.map { .object(json(of: $0)) }),
        ]
    }

    private func json(of outcome: UnitOutcome) -> JSON.Object {
        [
            "name": .string(outcome.unit.name.text),
            "kind": .string(outcome.unit.kind.word),
            "was": .string(outcome.unit.before.seen.active.rawValue),
            "stop_ms": outcome.stop.inMilliseconds,
            "refused": outcome.isRefused.map { .bool($0) } ?? .null,
            "start_ms": outcome.start.inMilliseconds,
            "ok": .bool(outcome.failures.isEmpty),
            "problem": problem(of: outcome).map { .string($0) } ?? .null,
            "remark": outcome.remark.map { .string($0) } ?? .null,
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
    /// Milliseconds below ten seconds, else tenths of a second.
    fileprivate var shown: String {
        let milliseconds = microseconds / 1000
        if milliseconds < 10_000 { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}

extension Duration? {
    fileprivate var inMilliseconds: JSON.Value {
        map { .number(Number($0.microseconds / 1000)) } ?? .null
    }
}
