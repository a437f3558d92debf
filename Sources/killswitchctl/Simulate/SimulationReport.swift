import CivilTime
import Decision
import JSON
import Records

/// What `simulate` prints.
struct SimulationReport {
    let service: Service
    /// The verdict at the start, and its changes.
    let records: [Record]
    let notices: [Notice]

    /// What is wrong with the flags, a sentence each.
    var problems: [String] { notices.map(\.sentence) }

    /// Whether some flag could not be read, so that the daemon would stay with those before.
    var isRefused: Bool {
        notices.contains {
            switch $0 {
            case .answerInvalid, .valueInvalid: true
            case .decided, .sourceFailed, .sourceRecovered, .sourceUnwatched, .sourceDoubted,
                .flagVanished, .endUnreadable, .versionUnknown, .closingHeld, .closingConfirmed,
                .recordFailed, .recordsRecovered, .overridden, .released, .overrideExpired,
                .forgotten:
                false
            }
        }
    }

    func text(isTimeline: Bool) -> String {
        if isTimeline { return records.map(line).joined(separator: "\n") }
        return records.first.map(whole) ?? ""
    }

    /// One change: when, what, why, and the texts.
    private func line(_ record: Record) -> String {
        let verdict = record.verdict
        let texts = [verdict.title, verdict.message].compactMap { $0.map(quoted) }
        return "\(service.zone.rfc3339(record.decidedAt)) \(verdict.state.rawValue), "
            + "\(verdict.gate?.rawValue ?? "no gate"): "
            + ([verdict.reason.sentence] + texts).joined(separator: "; ")
    }

    private func whole(_ record: Record) -> String {
        let verdict = record.verdict
        var lines = LabelledLines()
        lines.add("state", verdict.state.rawValue)
        lines.add("gate", verdict.gate?.rawValue ?? "none")
        lines.add("reason", "\(verdict.reason.slug.rawValue): \(verdict.reason.sentence)")
        lines.add("ends_at", verdict.endsAt.map(service.zone.rfc3339))
        lines.add("days_left", verdict.daysLeft.map(String.init))
        lines.add("title", verdict.title.map { shown($0) })
        lines.add("message", verdict.message.map { shown($0) })
        lines.add("variant", verdict.variant)
        for (name, value) in verdict.values {
            lines.add("values.\(name)", shown(value.serialized(.compact)))
        }
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "service": .string(service.name.text),
            "changes": .array(records.map(change)),
            "problems": .array(problems.map { .string($0) }),
        ])
    }

    /// The members of state.json that flags and time decide.
    private func change(_ record: Record) -> JSON.Value {
        let state = StateFile.json(of: record, for: service, bootID: "")
        var change: JSON.Object = ["time": .string(service.zone.rfc3339(record.decidedAt))]
        for key in [
            "state", "gate", "reason", "reason_text", "ends_at", "days_left", "title", "message",
            "retry_after", "variant", "values", "source", "version", "stale",
        ] {
            change[key] = state[key]
        }
        return .object(change)
    }
}
