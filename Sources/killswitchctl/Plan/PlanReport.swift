import CivilTime
import Decision
import JSON
import Storage
import _StringProcessing

/// The output of `plan`.
struct PlanReport {
    let plans: [PlannedService]
    let hosts: [PlannedHosts]
    /// The members that nobody reads, each with its source.
    let unknown: [UnknownMember]
    /// Until when changes were asked for; nil for one moment.
    let end: Instant?

    /// What the daemon would log about the documents. A member that looks like a known one is told by the reading.
    var problems: [String] {
        var warnings: [String] = []
        let unknownFlags = "; \(Failure.rest(hasFlags: false))"
        for notice in plans.flatMap(\.notices) {
            var text = notice.sentence
            // Which source it is says enough.
            if case .came(let finding) = notice, finding.kind == .sourceWarning {
                text = finding.text
            }
            // Hosts have flags, which the plan does not know.
            if text.hasSuffix(unknownFlags) { text.removeLast(unknownFlags.count) }
            if !warnings.contains(text) { warnings.append(text) }
        }
        for plan in plans where !plan.has(.invalidAnswer) {
            if let refusal = plan.refusal { warnings.append("\(plan.service.name): \(refusal)") }
        }
        return warnings
            + unknown.filter { member in !warnings.contains { member.isNamed(in: $0) } }
            .map(\.sentence)
    }

    /// Whether a flag could not be read, so that the daemon would keep the last known good ones.
    var isRefused: Bool { plans.contains { $0.isRefused || $0.has(.valueInvalid) } }

    // MARK: - For people

    var text: String {
        (plans.map(text)
            + hosts.map { hosts in
                (["rollout of '\(hosts.service)':"] + hosts.lines).joined(separator: "\n")
            }).joined(separator: "\n\n")
    }

    private func text(_ plan: PlannedService) -> String {
        var lines = [headline(plan)]
        for record in plan.shown {
            lines.append(
                "  \(plan.service.zone.rfc3339(record.decidedAt))  \(Self.words(record)): \(Self.why(record))"
            )
        }
        for (label, text) in facts(plan) {
            lines.append(
                "  \(label)\(String(repeating: " ", count: max(1, 8 - label.count)))\(text)")
        }
        return lines.joined(separator: "\n").printableLines
    }

    private func headline(_ plan: PlannedService) -> String {
        let name = plan.service.name
        let now = plan.present.map { "now \($0.summary); " } ?? ""
        guard let first = plan.shown.first else {
            return "\(name): \(now)the document is refused, and hosts keep the flags that they have"
        }
        let state = first.verdict.state.rawValue
        let isSame = plan.present?.state == first.verdict.state
        let effect =
            plan.closesAtOnce
            ? " and CLOSES at once" : plan.opensAtOnce ? " and OPENS at once" : ""
        let later = plan.shown.count == 1 ? noChange(of: first.verdict, plan.service.zone) : ""
        return isSame
            ? "\(name): \(now)stays \(state)\(later)"
            : "\(name): \(now)\(plan.present == nil ? "" : "then ")\(state)\(effect)\(later)"
    }

    /// That nothing changes until the end of the plan. What comes after it is not denied.
    private func noChange(of verdict: Verdict, _ zone: Zone) -> String {
        guard let end else { return "" }
        let isAhead =
            verdict.endsAt != nil || [.rollout, .windowAhead].contains(verdict.reason.slug)
        return isAhead ? ", and no change before \(zone.rfc3339(end))" : ", and no later change"
    }

    private static func words(_ record: PublishedVerdict) -> String {
        let days = record.verdict.daysLeft.map { ", \($0) \($0 == 1 ? "day" : "days") left" } ?? ""
        return
            "\(record.verdict.state.rawValue), \(record.verdict.gate?.rawValue ?? "no gate")\(days)"
    }

    private static func why(_ record: PublishedVerdict) -> String {
        let texts = [record.verdict.texts.title, record.verdict.texts.message]
        return ([record.verdict.reason.sentence] + texts.compactMap { $0.map(quoted) })
            .joined(separator: "; ")
    }

    /// What belongs to a service besides its verdicts.
    private func facts(_ plan: PlannedService) -> [(label: String, text: String)] {
        var facts: [(String, String)] = []
        if let record = plan.shown.first {
            for (name, value) in record.verdict.values {
                facts.append(
                    ("value", "\(name) = \(value.serialized(.compact).printable(limit: 100))"))
            }
            if let variant = record.verdict.variant { facts.append(("variant", variant)) }
        }
        if let assumption = plan.assumption { facts.append(("assumes", assumption)) }
        facts += plan.units.map { ("stops", $0.words) }
        facts += plan.holds.map { ("holds", $0) }
        if let drill = plan.drill { facts.append(("drill", drill)) }
        return facts
    }

    // MARK: - For a comment on a change

    var markdown: String {
        var blocks = plans.map { plan in
            let rows = plan.shown.map { record in
                let verdict = record.verdict
                return
                    "| \(plan.service.zone.rfc3339(record.decidedAt)) | \(verdict.state.rawValue) | "
                    + "\(verdict.gate?.rawValue ?? "none") | \(Self.cell(Self.why(record))) |"
            }
            let table = ["", "| when | state | gate | why |", "|---|---|---|---|"] + rows
            let list = facts(plan).map { "- \($0.label): \(Self.cell($0.text))" }
            return
                (["### \(Self.cell(headline(plan)))"] + (rows.isEmpty ? [] : table)
                + (list.isEmpty ? [] : [""] + list)).joined(separator: "\n")
        }
        blocks += hosts.map { hosts in
            (["### rollout of \(hosts.service)", "", "```text"] + hosts.lines + ["```"])
                .joined(separator: "\n")
        }
        if !problems.isEmpty {
            blocks.append(
                (["### warnings", ""] + problems.map { "- \(Self.cell($0))" }).joined(
                    separator: "\n"))
        }
        return blocks.joined(separator: "\n\n")
    }

    /// A text in a cell of a table: nothing in it is markup.
    private static func cell(_ text: String) -> String {
        text.printable.replacing(/[\\`*_\[\]<>|&]/) { "\\\($0.output)" }
    }

    // MARK: - For programs

    var json: JSON.Value {
        .object([
            "services": .objects(plans.map(json)), "rollouts": .objects(hosts.map(\.json)),
            "problems": .strings(problems), "refused": .bool(isRefused),
        ])
    }

    private func json(_ plan: PlannedService) -> JSON.Object {
        [
            "service": .string(plan.service.name.text),
            "now": plan.present.map {
                .object(["state": .string($0.state.rawValue), "gate": .optional($0.gate?.rawValue)])
            } ?? .null,
            "changes": .array(plan.records.map { change($0, of: plan.service) }),
            "units": .objects(plan.units.map(\.json)), "holds": .strings(plan.holds),
            "drill": .optional(plan.drill),
        ]
    }

    /// A change, by the members of state.json that depend on flags and time.
    private func change(_ record: PublishedVerdict, of service: Service) -> JSON.Value {
        let published = PublishedFacts(record, of: service.name)
        var change: JSON.Object = ["time": .string(service.zone.rfc3339(record.decidedAt))]
        for field in PublishedFacts.fields(on: .plan) {
            change[field.name] = field.value(in: published).json(in: service.zone)
        }
        return .object(change)
    }
}
