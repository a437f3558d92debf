import CivilTime
import Configuration
import Decision
import JSON
import Storage

/// The output of `explain`: the published verdict, and the chain of decisions that led to it.
struct ExplanationReport {
    let state: PublishedState
    let gate: ShownGate
    let units: [JSON.Object]
    /// The time for what is ahead.
    let now: Instant
    let isCurrent: Bool
    /// What is wrong with the service and its sources, by the daemon or by the files.
    let problems: [ProblemLine]
    /// The chain; nil if the stored flags cannot be read.
    var chain: ExplanationForm?
    var gap: String?

    var text: String {
        var lines = LabelledLines()
        if let chain {
            for line in chain.lines { lines.add(line.label, line.text) }
        } else {
            lines.add("switches", "not shown: \(gap ?? "")")
        }
        lines.add("override", override ?? "none")
        lines.add("verdict", state.summary + (isCurrent ? "" : " (out of date)"))
        lines.add("  since", text(of: "since"))
        lines.add(
            "  why",
            text(of: "reason").map { "\($0): \(text(of: "reason_text", limit: 400) ?? "")" })
        let authors = state.object.strings("author")
        lines.add("  author", authors.isEmpty ? nil : authors.joined(separator: ", "))
        for field in PublishedFacts.fields(on: .explain) {
            lines.add("  \(field.name)", text(of: field.name))
        }
        for (name, value) in state.object.object("values") {
            lines.add("  values.\(name)", value.serialized(.compact).printable(limit: 100))
        }
        // The problems of units stand beside the units.
        for problem in problems where !problem.isOfUnit {
            lines.add("problem", problem.line(at: now))
            lines.add("  to do", problem.advice)
        }
        lines.add("gate", gate.words ?? (gate.decided == nil ? "none" : "not known"))
        lines.add("", gate.isHeldUp ? gate.problem : nil)
        if units.isEmpty { lines.add("units", "none") }
        for (index, unit) in units.enumerated() {
            lines.add(index == 0 ? "units" : "", status(of: unit))
        }
        return lines.text
    }

    /// A unit's state, the state that the gate wants, and its problem.
    private func status(of unit: JSON.Object) -> String {
        let keepers = unit.strings("held_by").map { " by '\($0)'" }.joined(separator: " and")
        let wanted =
            unit["wanted"]?.bool.map { $0 ? ", wanted up" : ", wanted down" + keepers } ?? ""
        let problem = unit["problem"]?.string.map { ": \($0.printable(limit: 400))" } ?? ""
        return "\(unit.text("name")): \(unit["active"]?.string ?? "not known")\(wanted)"
            .printable(limit: 100) + problem
    }

    private func text(of key: String, limit: Int = 100) -> String? {
        state.object[key]?.string.map { $0.printable(limit: limit) }
    }

    private var override: String? {
        guard let override = state.object["override"]?.object else { return nil }
        let words = ["state", "author", "until", "reason"].map {
            override.text($0).printable(limit: 100)
        }
        return "\(words[0]) by '\(words[1])' until \(words[2]): '\(words[3])'"
    }

    /// The object for programs. If the stored flags cannot be read, `switches` is null and `gap` says why.
    var json: JSON.Value {
        .object([
            "service": state.object["service"] ?? .null,
            "current": .bool(isCurrent),
            "switches": chain?.switches ?? .null, "gap": .optional(gap),
            "verdict": .object(state.object), "gate": gate.json,
            "units": .objects(units), "problems": .objects(problems.map(\.object)),
            "runbook": .optional(chain?.lines.first { $0.label == "runbook" }?.text),
        ])
    }
}
