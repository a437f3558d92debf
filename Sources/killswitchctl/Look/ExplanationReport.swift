import CivilTime
import Decision
import JSON
import Records
import Settings

/// The output of `explain`: the published verdict, and the chain of decisions that led to it.
struct ExplanationReport {
    /// The published state.
    let state: PublishedState
    /// What its gate is in fact.
    let gate: ShownGate
    /// The objects of units.json.
    let units: [JSON.Object]
    /// The time by which the state is out of date or not.
    let now: Instant
    /// The chain; nil if the stored flags cannot be read.
    var chain: Explanation?
    /// Why the stored flags cannot be read.
    var gap: String?

    /// Whether the state is not out of date.
    var isCurrent: Bool { state.isCurrent(at: now) }

    /// The text for people.
    var text: String {
        var lines = LabelledLines()
        if let chain {
            for (index, view) in chain.switches.enumerated() {
                let number = chain.switches.count == 1 ? "" : " \(index + 1)"
                add(view, as: "switch\(number)", in: chain.service.zone, &lines)
            }
            lines.add("policy", chain.service.summary)
        } else {
            lines.add("switches", "not shown: \(gap ?? "")")
        }
        lines.add("override", override ?? "none")
        lines.add("verdict", state.summary + (isCurrent ? "" : " (out of date)"))
        lines.add("  since", text(of: "since"))
        lines.add(
            "  why",
            text(of: "reason").map { "\($0): \(text(of: "reason_text", limit: 400) ?? "")" })
        for key in ["ends_at", "title", "message", "variant"] {
            lines.add("  \(key)", text(of: key))
        }
        for (name, value) in state.object.object("values") {
            lines.add("  values.\(name)", value.serialized(.compact).printable(limit: 100))
        }
        lines.add("gate", gate.words ?? "none")
        lines.add("  problem", gate.problem)
        if units.isEmpty { lines.add("units", "none") }
        for (index, unit) in units.enumerated() {
            lines.add(index == 0 ? "units" : "", standing(of: unit))
        }
        return lines.text
    }

    /// A unit's state, the state that the gate wants, and its problem.
    private func standing(of unit: JSON.Object) -> String {
        let wish = unit["wanted"]?.bool.map { $0 ? ", wanted up" : ", wanted down" } ?? ""
        let problem = unit["problem"]?.string.map { ": \($0.printable(limit: 400))" } ?? ""
        return "\(unit.text("name")): \(unit["active"]?.string ?? "not known")\(wish)"
            .printable(limit: 100) + problem
    }

    private func text(of key: String, limit: Int = 100) -> String? {
        state.object[key]?.string.map { $0.printable(limit: limit) }
    }

    private func add(
        _ view: Explanation.SwitchView, as label: String, in zone: Zone,
        _ lines: inout LabelledLines
    ) {
        let age = view.age.map { "confirmed \(StatusTable.short($0)) ago" } ?? "never heard of"
        lines.add(label, "\(view.plan.format.word), source '\(view.plan.source)', \(age)")
        lines.add("  flags", view.flags.map(list))
        lines.add("  invalid", view.problem.map { "the newest answer: \($0)" })
        let decides = view.isDecisive ? ": decides" : ""
        let says = view.opinion.map { "\($0.state.rawValue), \($0.gate.rawValue)\(decides)" }
        lines.add("  says", says ?? "nothing yet: its first answer is waited for")
        if let reason = view.opinion?.reason, !view.isDecisive, !Self.plain.contains(reason.slug) {
            lines.add("  why", reason.sentence)
        }
        if let window = view.nextWindow {
            let days = Self.days(zone.calendarDays(from: now, to: window.from))
            let title = window.title.map { ", \(quoted($0))" } ?? ""
            lines.add(
                "  next",
                "maintenance \(days), from \(zone.rfc3339(window.from)) "
                    + "until \(zone.rfc3339(window.until))\(title)")
        }
        if view.isStaged {
            lines.add("  newer", "flags wait for the next start, by activation = \"next-start\"")
        }
    }

    /// The reasons that add nothing to what the flags say.
    private static let plain: Set<Reason.Slug> = [.flags, .storedFlags]

    private static func days(_ days: Int) -> String {
        switch days {
        case ...0: "today"
        case 1: "tomorrow"
        default: "in \(days) days"
        }
    }

    private func list(_ flags: JSON.Object) -> String {
        guard !flags.isEmpty else { return "none of its keys" }
        let pairs = flags.map { "\($0.key) = \($0.value.serialized(.compact))" }
        return pairs.joined(separator: ", ").printable(limit: 160)
    }

    /// The override in a line; nil without one.
    private var override: String? {
        guard let override = state.object["override"]?.object else { return nil }
        let words = ["state", "author", "until", "reason"].map {
            override.text($0).printable(limit: 100)
        }
        return "\(words[0]) by '\(words[1])' until \(words[2]): '\(words[3])'"
    }
}

extension Service {
    /// The policy in a line: the state without flags, and every setting that is not the default.
    fileprivate var summary: String {
        let usual = Policy()
        // A setting without a usual word is always shown.
        let settings: [(key: String, word: String, usual: String?)] = [
            ("max_stale", policy.maxStale?.text ?? "never", nil),
            (
                "when_stale", policy.whenStale.rawValue,
                policy.maxStale == nil ? usual.whenStale.rawValue : nil
            ), ("when_unknown", policy.whenUnknown.rawValue, nil),
            ("first_timeout", policy.firstTimeout.text, usual.firstTimeout.text),
            ("at_end", policy.atEnd.rawValue, usual.atEnd.rawValue),
            ("update_required", policy.updateRequired.rawValue, usual.updateRequired.rawValue),
            ("min_closed", policy.minClosed.text, usual.minClosed.text),
            ("confirm_close", "\(policy.confirmClose)", "\(usual.confirmClose)"),
            ("confirm_open", "\(policy.confirmOpen)", "\(usual.confirmOpen)"),
            ("activation", activation.rawValue, Activation.immediate.rawValue),
        ]
        return settings.filter { $0.word != $0.usual }.map { "\($0.key) \($0.word)" }
            .joined(separator: ", ")
    }
}

extension ExplanationReport {
    /// The object for programs: the chain, and state.json as it is. If the stored flags cannot be read,
    /// `switches` is null and `gap` says why.
    var json: JSON.Value {
        .object([
            "service": state.object["service"] ?? .null,
            "current": .bool(isCurrent),
            "switches": chain.map { chain in
                .array(chain.switches.map { json($0, chain.service.zone) })
            } ?? .null, "gap": .optional(gap), "verdict": .object(state.object),
            "gate": gate.json,
            "units": .array(units.map { .object($0) }),
        ])
    }

    private func json(_ view: Explanation.SwitchView, _ zone: Zone) -> JSON.Value {
        let window = view.nextWindow.map { window -> JSON.Value in
            .object([
                "from": .string(zone.rfc3339(window.from)),
                "until": .string(zone.rfc3339(window.until)),
                "title": .optional(window.title), "message": .optional(window.message),
            ])
        }
        return .object([
            "source": .string(view.plan.source.text),
            "format": .string(view.plan.format.word),
            "age": .optional(view.age?.wholeSeconds),
            "flags": view.flags.map(JSON.Value.object) ?? .null,
            "problem": .optional(view.problem?.description),
            "state": .optional(view.opinion?.state.rawValue),
            "gate": .optional(view.opinion?.gate.rawValue),
            "reason": .optional(view.opinion?.reason.slug.rawValue),
            "reason_text": .optional(view.opinion?.reason.sentence),
            "next_window": window ?? .null,
            "waiting": .bool(view.isStaged),
            "decides": .bool(view.isDecisive),
        ])
    }
}
