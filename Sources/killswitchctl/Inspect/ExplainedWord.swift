import Decision
import Gates
import JSON

/// A word that commands print, explained: a reason, the kind of a finding, a state or what a gate is.
struct ExplainedWord {
    private let word: String
    private let reason: Reason.Slug?
    private let finding: Finding.Kind?
    private let state: State?
    private let gate: GateStatus.Actual?

    /// Nil for a word that is none of them.
    init?(_ word: String) {
        self.word = word
        (reason, finding) = (Reason.Slug(rawValue: word), Finding.Kind(rawValue: word))
        (state, gate) = (State(rawValue: word), GateStatus.Actual(rawValue: word))
        if reason == nil, finding == nil, state == nil, gate == nil { return nil }
    }

    static let words = Set(
        Reason.Slug.allCases.map(\.rawValue) + Finding.Kind.allCases.map(\.rawValue)
            + State.allCases.map(\.rawValue) + GateStatus.Actual.allCases.map(\.rawValue)
    ).sorted()

    var text: String {
        var lines = LabelledLines()
        if let state { lines.add("state \(word)", state.meaning) }
        if let gate { lines.add("gate \(word)", gate.meaning) }
        if let reason { lines.add("reason \(word)", reason.meaning) }
        if let finding {
            lines.add("finding \(word)", finding.row.meaning)
            lines.add("  to do", finding.row.advice)
        }
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "word": .string(word), "state": .optional(state?.meaning),
            "gate": .optional(gate?.meaning), "reason": .optional(reason?.meaning),
            "finding": .optional(finding?.row.meaning), "advice": .optional(finding?.row.advice),
        ])
    }
}

extension State {
    /// As killswitch-flags(7) says it.
    fileprivate var meaning: String {
        switch self {
        case .undecided: "Too little is known for a decision; the gate stays as it is."
        case .running: "The service runs; the gate is open."
        case .countdown: "It runs, and its end is announced; the gate is open."
        case .maintenance: "It is down, and will return; the gate is closed."
        case .updateRequired:
            "It is down until it is updated; the gate is closed, or open with 'update_required = \"open\"'."
        case .ended: "It is down for good; the gate is closed."
        }
    }
}

extension GateStatus.Actual {
    fileprivate var meaning: String {
        switch self {
        case .open: "The units that it starts were started, and units may run."
        case .opening: "It is being moved, or units have not started yet."
        case .closing: "Starts are refused, and units have not stopped yet."
        case .closed: "Starts are refused, and every unit that it stops is down."
        case .stuck:
            "It is not as it was decided, and will not be before a problem ends; 'status' names that."
        }
    }
}
