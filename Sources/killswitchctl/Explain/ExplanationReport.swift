import CivilTime
import Decision
import JSON
import Records
import Settings

/// What `explain` prints: the verdict as it was published, and the chain that led there.
struct ExplanationReport {
    let state: PublishedState
    /// The attached units, as units.json has them.
    let units: [JSON.Object]
    let now: Instant
    /// Nil where the stored flags cannot be read.
    var chain: Explanation?
    /// Why they cannot.
    var gap: String?

    var isCurrent: Bool { state.isCurrent(at: now) }

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
        for (name, value) in state.object["values"]?.object ?? [:] {
            lines.add("  values.\(name)", shown(value.serialized(.compact)))
        }
        lines.add("gate", state.gate?.rawValue ?? "none")
        if units.isEmpty { lines.add("units", "none") }
        for (index, unit) in units.enumerated() {
            lines.add(index == 0 ? "units" : "", standing(of: unit))
        }
        return lines.text
    }

    /// How a unit is, what the gate wants of it, and what is wrong.
    private func standing(of unit: JSON.Object) -> String {
        let wish: String? =
            switch unit["wanted"] {
            case .bool(let isWanted): isWanted ? "wanted up" : "wanted down"
            case nil, .null, .number, .string, .array, .object: nil
            }
        let name = unit["name"]?.string ?? ""
        let words = ["\(name): \(unit["active"]?.string ?? "not known")", wish].compactMap(\.self)
        let problem = unit["problem"]?.string.map { ": \(shown($0, limit: 400))" } ?? ""
        return shown(words.joined(separator: ", ")) + problem
    }

    private func text(of key: String, limit: Int = 100) -> String? {
        state.object[key]?.string.map { shown($0, limit: limit) }
    }

    private func add(
        _ view: Explanation.SwitchView, as label: String, in zone: Zone,
        _ lines: inout LabelledLines
    ) {
        let age = view.age.map { "confirmed \(StatusTable.short($0)) ago" } ?? "never heard of"
        lines.add(label, "\(view.plan.format.word), source '\(view.plan.source)', \(age)")
        lines.add("  flags", view.flags.map(list))
        lines.add("  invalid", view.problem.map { "the newest answer: \($0)" })
        lines.add(
            "  says",
            view.opinion.map {
                "\($0.state.rawValue), \($0.gate.rawValue)" + (view.isDecisive ? ": decides" : "")
            } ?? "nothing yet: its first answer is waited for")
        if let reason = view.opinion?.reason, !view.isDecisive, !reason.isPlain {
            lines.add("  why", reason.sentence)
        }
        lines.add(
            "  next",
            view.nextWindow.map { window in
                "maintenance \(Self.days(zone.calendarDays(from: now, to: window.from))), from "
                    + "\(zone.rfc3339(window.from)) until \(zone.rfc3339(window.until))"
                    + (window.title.map { ", \(quoted($0))" } ?? "")
            })
        if view.isStaged {
            lines.add("  newer", "flags wait for the next start, by activation = \"next-start\"")
        }
    }

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
        return shown(pairs.joined(separator: ", "), limit: 160)
    }

    /// The override by state.json, which everybody may read.
    private var override: String? {
        guard let override = state.object["override"]?.object else { return nil }
        let words = ["state", "author", "until", "reason"].map {
            shown(override[$0]?.string ?? "")
        }
        return "\(words[0]) by '\(words[1])' until \(words[2]): '\(words[3])'"
    }
}

extension Reason {
    /// Whether it says no more than that the flags say so.
    fileprivate var isPlain: Bool {
        switch slug {
        case .flags, .storedFlags: true
        case .starting, .awaitingFirstAnswer, .invalidAnswer, .unconfirmed, .windowAhead, .window,
            .versionTooOld, .endPassed, .endUnreadable, .staleHold, .staleOpen, .staleClosed,
            .expiredHold, .expiredOpen, .expiredClosed, .unknownOpen, .unknownClosed,
            .clockNotBelieved, .minClosed, .closingHeld, .overridden:
            false
        }
    }
}

extension Service {
    /// The policy in one line: what holds without flags, and whatever is not as by default.
    fileprivate var summary: String {
        let usual = Policy()
        var words = ["max_stale \(policy.maxStale?.text ?? "never")"]
        if policy.maxStale != nil || policy.whenStale != usual.whenStale {
            words.append("when_stale \(policy.whenStale.rawValue)")
        }
        words.append("when_unknown \(policy.whenUnknown.rawValue)")
        if policy.firstTimeout != usual.firstTimeout {
            words.append("first_timeout \(policy.firstTimeout.text)")
        }
        if policy.atEnd != usual.atEnd { words.append("at_end \(policy.atEnd.rawValue)") }
        if policy.updateRequired != usual.updateRequired {
            words.append("update_required \(policy.updateRequired.rawValue)")
        }
        if policy.minClosed != usual.minClosed {
            words.append("min_closed \(policy.minClosed.text)")
        }
        if policy.confirmClose != usual.confirmClose {
            words.append("confirm_close \(policy.confirmClose)")
        }
        if policy.confirmOpen != usual.confirmOpen {
            words.append("confirm_open \(policy.confirmOpen)")
        }
        if activation != .immediate { words.append("activation \(activation.rawValue)") }
        return words.joined(separator: ", ")
    }
}
