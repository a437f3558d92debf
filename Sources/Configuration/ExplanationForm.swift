package import CivilTime
package import Decision
package import JSON
package import SourceSettings

/// An explanation as people and programs see it: what each switch of a service says, and the policy.
///
/// The daemon makes it and sends it to `killswitchctl explain`.
package struct ExplanationForm {
    /// A line of the text.
    package typealias Line = (label: String, text: String)

    /// The lines for people.
    package private(set) var lines: [Line] = []
    /// The switches for programs.
    package let switches: JSON.Value

    /// The explanation at this time. `guards` and `sources` are those of the configuration in force.
    package init(
        _ explanation: Explanation, guards: [GuardName: GuardSettings], sources: [Source],
        at now: Instant
    ) {
        let zone = explanation.service.zone
        let places = sources.reduce(into: [:]) { $0[$1.name] = $1.kind.places }
        switches = .array(
            explanation.switches.map { Self.json($0, places[$0.plan.source] ?? [], zone) })
        for (index, view) in explanation.switches.enumerated() {
            let number = explanation.switches.count == 1 ? "" : " \(index + 1)"
            add(view, as: "switch\(number)", places[view.plan.source] ?? [], in: zone, at: now)
        }
        add("policy", explanation.service.summary)
        add("runbook", explanation.service.runbook)
        add(
            "guard",
            explanation.guardName.map { Self.words($0, guards[$0], explanation.guardView) })
    }

    /// The explanation in a reply of the daemon.
    package init(reply: JSON.Object) {
        switches = reply["switches"] ?? .null
        lines = reply.objects("lines").map { line in
            (line["label"]?.string ?? "", line["text"]?.string ?? "")
        }
    }

    /// The reply of the daemon.
    package var reply: JSON.Object {
        [
            "lines": .array(
                lines.map { .object(["label": .string($0.label), "text": .string($0.text)]) }),
            "switches": switches,
        ]
    }

    private mutating func add(_ label: String, _ text: String?) {
        if let text { lines.append((label, text)) }
    }

    private mutating func add(
        _ view: Explanation.SwitchView, as label: String, _ places: [String], in zone: Zone,
        at now: Instant
    ) {
        let age = view.age.map { "confirmed \($0.rough) ago" } ?? "never confirmed"
        add(label, "\(view.plan.format.word), source '\(view.plan.source)', \(age)")
        add("  from", places.isEmpty ? nil : places.joined(separator: ", ").printable(limit: 300))
        add("  flags", view.flags.map(Self.list))
        let authors = view.opinion?.authors ?? []
        add("  signed by", authors.isEmpty ? nil : authors.map(quoted).joined(separator: ", "))
        add("  invalid", view.problem.map { "the newest answer: \($0)" })
        let decides = view.isDecisive ? ": decides" : ""
        let opinion = view.opinion.map { "\($0.state.rawValue), \($0.gate.rawValue)\(decides)" }
        add("  says", opinion ?? "nothing yet: waiting for its first answer")
        if let reason = view.opinion?.reason, !view.isDecisive, !Self.plain.contains(reason.slug) {
            add("  why", reason.sentence)
        }
        if let window = view.nextWindow {
            let days = Self.days(zone.calendarDays(from: now, to: window.from))
            let title = window.texts.title.map { ", \(quoted($0))" } ?? ""
            add(
                "  next",
                "maintenance \(days), from \(zone.rfc3339(window.from)) "
                    + "until \(zone.rfc3339(window.until))\(title)")
        }
        if view.isStaged {
            add("  newer", "flags wait for the next start, by activation = \"next-start\"")
        }
    }

    /// The reasons that add nothing to what the flags say.
    private static let plain: Set<Reason.Slug> = [.flags, .storedFlags]

    /// A guard with the address that is asked, and what it has answered lately.
    private static func words(
        _ name: GuardName, _ settings: GuardSettings?, _ view: Overview.GuardView?
    ) -> String {
        let place = settings.map { " at '\($0.shownAddress)'" } ?? ""
        guard let view else { return "'\(name)'\(place)" }
        let age = view.age.map { ", asked \($0.rough) ago" } ?? ""
        let next = view.next.map { ", asked again in \($0.rough)" } ?? ""
        return switch view.answer {
        case .passes: "'\(name)'\(place) passes\(age)"
        case .holds(let cause): "'\(name)'\(place) does not pass: \(cause)\(age)\(next)"
        }
    }

    private static func days(_ days: Int) -> String {
        switch days {
        case ...0: "today"
        case 1: "tomorrow"
        default: "in \(days) days"
        }
    }

    private static func list(_ flags: JSON.Object) -> String {
        guard !flags.isEmpty else { return "no key of this service" }
        let pairs = flags.map { key, value in
            let text = value.serialized(.compact)
            return key == FlagDocument.wholeKey ? text : "\(key) = \(text)"
        }
        return pairs.joined(separator: ", ").printable(limit: 160)
    }

    private static func json(
        _ view: Explanation.SwitchView, _ places: [String], _ zone: Zone
    ) -> JSON.Value {
        let window = view.nextWindow.map { window -> JSON.Value in
            .object([
                "from": .string(zone.rfc3339(window.from)),
                "until": .string(zone.rfc3339(window.until)),
                "title": .optional(window.texts.title), "message": .optional(window.texts.message),
            ])
        }
        return .object([
            "source": .string(view.plan.source.text),
            "addresses": .strings(places),
            "format": .string(view.plan.format.word),
            "age": .optional(view.age?.wholeSeconds),
            "flags": view.flags.map(JSON.Value.object) ?? .null,
            "problem": .optional(view.problem?.description),
            "state": .optional(view.opinion?.state.rawValue),
            "gate": .optional(view.opinion?.gate.rawValue),
            "reason": .optional(view.opinion?.reason.slug.rawValue),
            "reason_text": .optional(view.opinion?.reason.sentence),
            "author": .strings(view.opinion?.authors ?? []),
            "next_window": window ?? .null,
            "waiting": .bool(view.isStaged),
            "decides": .bool(view.isDecisive),
        ])
    }
}

extension Service {
    /// The policy in a line: the state without flags, and every setting that is not the default.
    fileprivate var summary: String {
        let hasLimit = policy.maxStale != nil
        let always: [ServiceKey] = [.maxStale, .whenUnknown] + (hasLimit ? [.whenStale] : [])
        let shown = zip(policy.settings, Policy().settings).compactMap { setting, usual in
            let key = String(setting.path.dropFirst())
            let isShown = setting != usual || always.map(\.rawValue).contains(key)
            return isShown ? "\(key) \(setting.value.filter { $0 != "\"" })" : nil
        }
        let later = activation == .immediate ? [] : ["activation \(activation.rawValue)"]
        return (shown + later).joined(separator: ", ")
    }
}
