import CivilTime
package import Decision
package import Journal

extension Notice {
    /// The notice as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        JournalEntry(
            level.priority, sentence, messageID: messageID.rawValue, fields: fields)
    }

    private var messageID: MessageID {
        switch self {
        case .decided: .decided
        case .sourceFailed: .sourceFailed
        case .sourceRecovered: .sourceRecovered
        case .sourceUnwatched: .sourceUnwatched
        case .sourceWarned: .sourceWarned
        case .flagVanished: .flagVanished
        case .answerInvalid: .answerInvalid
        case .endUnreadable: .endUnreadable
        case .versionUnknown: .versionUnknown
        case .valueInvalid: .valueInvalid
        case .closingHeld: .closingHeld
        case .closingConfirmed: .closingConfirmed
        case .recordFailed: .recordFailed
        case .recordsRecovered: .recordsRecovered
        case .overridden: .overridden
        case .released: .released
        case .overrideExpired: .overrideExpired
        case .forgotten: .forgotten
        }
    }

    private var fields: [Field] {
        switch self {
        case .decided(let service, let verdict, _):
            [JournalField.service(service.text)] + verdict.fields
        case .sourceFailed(let source, _, _), .sourceRecovered(let source),
            .sourceUnwatched(let source, _), .sourceWarned(let source, _),
            .flagVanished(let source, _):
            [JournalField.source(source.text)]
        case .answerInvalid(let service, let source, _),
            .endUnreadable(let service, let source, _),
            .versionUnknown(let service, let source, _),
            .valueInvalid(let service, _, let source, _):
            [JournalField.service(service.text), JournalField.source(source.text)]
        case .recordFailed(let operation, _):
            operation.fields
        case .closingHeld(let services, _):
            services.map { JournalField.service($0.text) }
        case .closingConfirmed(let services, let author):
            services.map { JournalField.service($0.text) } + [JournalField.author(author)]
        case .recordsRecovered:
            []
        case .overridden(let service, let override), .overrideExpired(let service, let override):
            [JournalField.service(service.text)] + override.fields
        case .released(let service, _, let author):
            [JournalField.service(service.text), JournalField.author(author)]
        case .forgotten(let source, let author):
            [JournalField.source(source.text), JournalField.author(author)]
        }
    }
}

extension Notice.Level {
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
    fileprivate var fields: [Field] {
        [
            JournalField.state(state.rawValue), gate.map { JournalField.gate($0.rawValue) },
            JournalField.reason(reason.slug.rawValue), daysLeft.map(JournalField.daysLeft),
            (source ?? reason.source).map { JournalField.source($0.text) },
            version.map(JournalField.version),
        ].compactMap(\.self) + (self.override?.fields ?? [])
    }
}

extension Override {
    /// The whole texts; the sentence may cut them.
    fileprivate var fields: [Field] {
        [
            JournalField.author(author), JournalField.cause(cause),
            JournalField.until(Zone.utc.rfc3339(until)),
        ]
    }
}

extension WriteOperation {
    fileprivate var fields: [Field] {
        switch self {
        case .storeFlags(let source), .markConfirmed(let source): [JournalField.source(source.text)]
        case .publish(let service): [JournalField.service(service.text)]
        case .storeLedger, .storeOverrides: []
        }
    }
}

/// killswitchd's own journal fields.
package enum JournalField {
    /// The name of the service.
    package static func service(_ value: String) -> Field { Field("KILLSWITCH_SERVICE", value) }
    /// The attached unit.
    package static func unit(_ value: String) -> Field { Field("KILLSWITCH_UNIT", value) }
    /// The word of the state.
    package static func state(_ value: String) -> Field { Field("KILLSWITCH_STATE", value) }
    /// `open` or `closed`.
    package static func gate(_ value: String) -> Field { Field("KILLSWITCH_GATE", value) }
    /// The slug of the reason.
    package static func reason(_ value: String) -> Field { Field("KILLSWITCH_REASON", value) }
    /// The days until the end.
    package static func daysLeft(_ value: Int) -> Field {
        Field("KILLSWITCH_DAYS_LEFT", String(value))
    }
    /// Who gave an order.
    package static func author(_ value: String) -> Field { Field("KILLSWITCH_AUTHOR", value) }
    /// Why an order was given, in its author's words.
    package static func cause(_ value: String) -> Field { Field("KILLSWITCH_CAUSE", value) }
    /// When an order ends by itself, by RFC 3339.
    package static func until(_ value: String) -> Field { Field("KILLSWITCH_UNTIL", value) }
    /// The name of the source.
    package static func source(_ value: String) -> Field { Field("KILLSWITCH_SOURCE", value) }
    /// The version of the flags.
    package static func version(_ value: String) -> Field { Field("KILLSWITCH_VERSION", value) }
}
