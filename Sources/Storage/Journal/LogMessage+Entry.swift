import CivilTime
package import Decision
package import Gates
package import Systemd

extension LogMessage {
    /// The line as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        let id: String? =
            if case .came(let finding) = self {
                finding.kind.row.messageID
            } else {
                kind?.row.messageID
            }
        return JournalEntry(level.priority, sentence, messageID: id, fields: fields)
    }

    /// The facts of an event.
    private var fields: [Field] {
        switch self {
        case .came(let finding), .over(let finding): finding.fields
        case .decided(let service, let verdict, _):
            [.service(service)] + verdict.fields(of: service)
        case .flagVanished(let source, _): [.source(source)]
        case .closingHeld(let services, _, _): services.map(Field.service)
        case .closingConfirmed(let services, let author), .stepConfirmed(let services, let author):
            services.map(Field.service) + [.author(author)]
        case .overridden(let service, let override), .overrideExpired(let service, let override):
            [.service(service)] + override.fields
        case .released(let service, _, let author): [.service(service), .author(author)]
        case .forgotten(let source, let author, let cause):
            [.source(source), .author(author)]
                + (cause.map { [Field("KILLSWITCH_CAUSE", $0)] } ?? [])
        case .noticePublished(let service, let notice):
            [.service(service)] + notice.fields(of: service)
        case .changesHeld(let service, _): [.service(service)]
        case .drilled(let service, _, let author): [.service(service), .author(author)]
        }
    }
}

extension GateLogMessage {
    /// The line as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        switch self {
        case .came(let finding): LogMessage.came(finding).entry
        case .over(let finding): LogMessage.over(finding).entry
        case .moved(let service, let desired, _, let units, _):
            entry(
                .gateMoved, service,
                [.state(desired.state), .gate(desired.gate)] + Self.times(of: units))
        case .movedElsewhere(let service, let desired):
            entry(.gateMovedElsewhere, service, [.state(desired.state), .gate(desired.gate)])
        case .unitsSlow(let service, _, _): entry(.unitsSlow, service, [])
        case .startsRefused(let service, let unit, let count, _, _, let verdict):
            entry(
                .startRefused, service,
                [.unit(unit), Field("KILLSWITCH_REFUSED_STARTS", "\(count)")]
                    + (verdict?.fields(of: service) ?? []))
        }
    }

    /// How long the units took, in milliseconds: `web.service 850`. `plan` reads it.
    private static func times(of units: [UnitName: Duration]) -> [Field] {
        units.sorted { $0.key < $1.key }.prefix(64).map {
            Field("KILLSWITCH_TOOK", "\($0.key) \($0.value.microseconds / 1000)")
        }
    }

    private func entry(
        _ kind: LogMessage.Kind, _ service: ServiceName, _ fields: [Field]
    ) -> JournalEntry {
        JournalEntry(
            level.priority, sentence, messageID: kind.row.messageID,
            fields: [.service(service)] + fields)
    }
}

extension Finding {
    /// Its word, and in what it is.
    fileprivate var fields: [Field] {
        [Field("KILLSWITCH_FINDING", kind.rawValue)] + subject.services.map(Field.service)
            + [subject.source.map(Field.source), subject.unit.map(Field.unit)].compactMap(\.self)
    }
}

extension LogMessage.Level {
    /// The level as a priority of syslog(3).
    package var priority: Priority {
        switch self {
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        }
    }
}

extension Verdict {
    /// The facts that entries about a decision have.
    func fields(of service: ServiceName) -> [Field] {
        var verdict = self
        verdict.source = source ?? reason.source
        if let override { verdict.authors = [override.author] }
        let published = PublishedFacts(verdict, of: service)
        let fields = Self.journal.flatMap { field in
            let value = field.value(in: published)
            // Each name has a field of its own.
            let texts =
                if case .names(let names) = value { names } else {
                    [value.text(in: .utc)].compactMap(\.self)
                }
            return texts.map { Field("KILLSWITCH_\(field.variable)", $0) }
        }
        return fields + (override?.order ?? [])
    }

    private static let journal = PublishedFacts.fields(on: .journal, last: ["author"])
}

extension Override {
    fileprivate var fields: [Field] { [.author(author)] + order }

    /// The whole texts; the sentence may cut them.
    fileprivate var order: [Field] {
        [Field("KILLSWITCH_CAUSE", cause)]
            + [until.map { Field("KILLSWITCH_UNTIL", Zone.utc.rfc3339($0)) }].compactMap(\.self)
    }
}

extension PublicNotice {
    /// The same names as in `state.env`.
    fileprivate func fields(of service: ServiceName) -> [Field] {
        [self].facts(of: service).compactMap { fact in
            fact.text.map { Field("KILLSWITCH_\(fact.name)", $0) }
        }
    }
}

/// killswitchd's own journal fields that several notices have.
extension Field {
    /// The name of the service.
    package static func service(_ name: ServiceName) -> Field {
        Field("KILLSWITCH_SERVICE", name.text)
    }
    static func source(_ name: SourceName) -> Field { Field("KILLSWITCH_SOURCE", name.text) }
    static func unit(_ name: UnitName) -> Field { Field("KILLSWITCH_UNIT", name.text) }
    static func state(_ state: State) -> Field { Field("KILLSWITCH_STATE", state.rawValue) }
    static func gate(_ gate: Gate) -> Field { Field("KILLSWITCH_GATE", gate.rawValue) }
    /// Who gave an order, or signed the flags.
    package static func author(_ name: String) -> Field { Field("KILLSWITCH_AUTHOR", name) }
}
