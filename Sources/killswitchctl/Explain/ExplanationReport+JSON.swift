import CivilTime
import Decision
import JSON
import Records

extension ExplanationReport {
    /// For programs: the chain, and state.json as it is. `switches` is null where the stored flags
    /// cannot be read, and `gap` says why.
    var json: JSON.Value {
        .object([
            "service": state.object["service"] ?? .null,
            "current": .bool(isCurrent),
            "switches": chain.map { chain in
                .array(chain.switches.map { json($0, chain.service.zone) })
            } ?? .null,
            "gap": gap.map { .string($0) } ?? .null,
            "verdict": .object(state.object),
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
            "age": view.age.map { .number(Number($0.wholeSeconds)) } ?? .null,
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

extension JSON.Value {
    fileprivate static func optional(_ text: String?) -> Self {
        text.map { .string($0) } ?? .null
    }
}
