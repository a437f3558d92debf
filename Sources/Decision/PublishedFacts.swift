package import CivilTime
package import JSON

/// What is published of a service: its facts, each with a name and a typed value, in the order of `state.json`.
///
/// Every surface prints from `fields`: state.json, state.env, the journal, the report, the page, the control socket
/// and killswitchctl. A surface adds only what it shows in another way. A new fact is a line here.
package struct PublishedFacts: Sendable {
    private let service: ServiceName
    /// Nil for a service without a record.
    private let verdict: Verdict?
    private let record: PublishedVerdict?
    private let bootID: String

    /// What is published of a record, which is nil before the first decision.
    package init(_ record: PublishedVerdict?, of service: ServiceName, bootID: String = "") {
        (self.service, verdict, self.record) = (service, record?.verdict, record)
        self.bootID = bootID
    }

    /// The facts of a verdict alone: those of its record are absent.
    package init(_ verdict: Verdict, of service: ServiceName) {
        (self.service, self.verdict, record, bootID) = (service, verdict, nil, "")
    }

    package static let fields: [Field] = [
        Field("schema", "int") { _ in .number(1) },
        Field("service", "string", [.report]) { .text($0.service.text) },
        Field("state", "string", decision) { .text(($0.verdict?.state ?? .undecided).rawValue) },
        Field("gate", "?string", decision) { .text($0.verdict?.gate?.rawValue) },
        Field("reason", "string", decision) { .text($0.verdict?.reason.slug.rawValue) },
        Field("reason_text", "string", [.report, .plan]) {
            .text($0.verdict?.reason.sentence)
        },
        Field("since", "string", [.report]) { .time($0.record?.since) },
        Field("ends_at", "?string", [.shell, .explain, .report, .plan]) {
            .time($0.verdict?.endsAt)
        },
        Field("days_left", "?int", [.shell, .journal, .plan]) {
            .number($0.verdict?.daysLeft.map(Int64.init))
        },
        Field("title", "?string", texts) { .text($0.verdict?.texts.title) },
        Field("message", "?string", texts) { .text($0.verdict?.texts.message) },
        Field("retry_after", "?int", [.plan]) {
            .number($0.verdict?.retryAfter?.wholeSeconds)
        },
        Field("author", "[]string", decision) { .names($0.verdict?.authors ?? []) },
        Field("variant", "?string", texts + [.page]) { .text($0.verdict?.variant) },
        Field("values", "object", [.plan]) { .object($0.verdict?.values ?? [:]) },
        Field("override", "?Override", [.report]) { .override($0.verdict?.override) },
        Field("source", "?string", origin) { .text($0.verdict?.source?.text) },
        Field("version", "?string", origin) { .text($0.verdict?.version) },
        Field("fetched_at", "?string") { .time($0.record?.fetchedAt) },
        Field("decided_at", "string") { .time($0.record?.decidedAt) },
        Field("valid_until", "string") { .time($0.record?.validUntil) },
        Field("stale", "bool", [.report, .plan]) { .bool($0.verdict?.isStale ?? false) },
        Field("generation", "int", [.report]) { .number(Int64($0.record?.generation ?? 0)) },
        Field("boot_id", "string") { .text($0.bootID) },
    ]

    private static let decision: [Surface] = [.shell, .journal, .report, .plan]
    private static let texts: [Surface] = [.shell, .explain, .plan]
    private static let origin: [Surface] = [.journal, .report, .plan]

    /// The facts of a surface. Those that are named in `first` and `last` come before and after the others.
    package static func fields(
        on surface: Surface, first: [String] = [], last: [String] = []
    ) -> [Field] {
        let shown = fields.filter { $0.surfaces.contains(surface) }
        let named = { (names: [String]) in
            names.compactMap { name in shown.first { $0.name == name } }
        }
        let others = shown.filter { !first.contains($0.name) && !last.contains($0.name) }
        return named(first) + others + named(last)
    }

    /// One fact.
    package struct Field: Sendable {
        /// Its member in state.json.
        package let name: String
        /// The same in capital letters: after `KILLSWITCH_` its variable and its field in the journal.
        package let variable: String
        /// Its type in the interface of the control socket.
        package let type: String
        fileprivate let surfaces: [Surface]
        private let fact: @Sendable (PublishedFacts) -> Value

        fileprivate init(
            _ name: String, _ type: String, _ surfaces: [Surface] = [],
            _ fact: @escaping @Sendable (PublishedFacts) -> Value
        ) {
            (self.name, variable, self.type) = (name, name.uppercased(), type)
            (self.surfaces, self.fact) = (surfaces, fact)
        }

        /// Its value for this verdict.
        package func value(in published: PublishedFacts) -> Value { fact(published) }
    }

    /// Where facts are shown besides state.json and the control socket, which show all of them.
    package enum Surface: CaseIterable, Sendable {
        /// `state.env`.
        case shell
        /// Entries about a decision, and `history`.
        case journal
        case report
        /// The text of `explain`.
        case explain
        case page
        /// The objects of `plan`: what depends on flags and time alone.
        case plan
    }

    /// The value of a fact; nil is an absent one.
    package enum Value: Sendable {
        case text(String?)
        case number(Int64?)
        case bool(Bool)
        case time(Instant?)
        case names([String])
        case object(JSON.Object)
        case override(Override?)

        /// The value for programs: null for an absent fact.
        package func json(in zone: Zone) -> JSON.Value {
            switch self {
            case .text(let text): .optional(text)
            case .number(let number): .optional(number)
            case .bool(let bool): .bool(bool)
            case .time(let time): .optional(time.map(zone.rfc3339))
            case .names(let names): .strings(names)
            case .object(let object): .object(object)
            case .override(let override): override.map { .object($0.json(in: zone)) } ?? .null
            }
        }

        /// The value as a text; nil for an absent fact, and for an object, which each surface shows in its own way.
        package func text(in zone: Zone, joining separator: String = ", ") -> String? {
            switch self {
            case .text(let text): text
            case .number(let number): number.map(String.init)
            case .bool(let bool): String(bool)
            case .time(let time): time.map(zone.rfc3339)
            case .names(let names): names.isEmpty ? nil : names.joined(separator: separator)
            case .object, .override: nil
            }
        }
    }
}

extension Override {
    /// The member `override` of state.json, with times in this zone.
    package func json(in zone: Zone) -> JSON.Object {
        [
            "state": .string(state.rawValue), "reason": .string(cause), "author": .string(author),
            "since": .string(zone.rfc3339(since)), "until": .optional(until.map(zone.rfc3339)),
        ]
    }
}
