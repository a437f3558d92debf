import CivilTime
package import Decision
package import Gates
package import Systemd

extension LogMessage {
    /// The notice as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        let (id, fields) = details
        return JournalEntry(level.priority, sentence, messageID: id.rawValue, fields: fields)
    }

    private var details: (MessageID, [Field]) {
        switch self {
        case .decided(let service, let verdict, _):
            (.decided, [.service(service)] + verdict.fields(of: service))
        case .sourceFailed(let source, _, _, _): (.sourceFailed, [.source(source)])
        case .sourceRecovered(let source): (.sourceRecovered, [.source(source)])
        case .sourceUnwatched(let source, _): (.sourceUnwatched, [.source(source)])
        case .sourceWarned(let source, _): (.sourceWarned, [.source(source)])
        case .flagVanished(let source, _): (.flagVanished, [.source(source)])
        case .answerInvalid(let service, let source, _, _):
            (.answerInvalid, [.service(service), .source(source)])
        case .endUnreadable(let service, let source, _):
            (.endUnreadable, [.service(service), .source(source)])
        case .versionUnknown(let service, let source, _):
            (.versionUnknown, [.service(service), .source(source)])
        case .valueInvalid(let service, _, let source, _):
            (.valueInvalid, [.service(service), .source(source)])
        case .closingHeld(let services, _, _): (.closingHeld, services.map(Field.service))
        case .closingConfirmed(let services, let author):
            (.closingConfirmed, services.map(Field.service) + [.author(author)])
        case .stepConfirmed(let services, let author):
            (.stepConfirmed, services.map(Field.service) + [.author(author)])
        case .recordFailed(let operation, _): (.recordFailed, operation.fields)
        case .recordsRecovered, .recordsRead: (.recordsRecovered, [])
        case .recordUnreadable: (.recordUnreadable, [])
        case .overridden(let service, let override):
            (.overridden, [.service(service)] + override.fields)
        case .overrideEnds(let service, let override, _):
            (.overrideEnds, [.service(service)] + override.fields)
        case .overrideExpired(let service, let override):
            (.overrideExpired, [.service(service)] + override.fields)
        case .released(let service, _, let author):
            (.released, [.service(service), .author(author)])
        case .forgotten(let source, let author, let cause):
            (
                .forgotten,
                [.source(source), .author(author)]
                    + (cause.map { [Field("KILLSWITCH_CAUSE", $0)] } ?? [])
            )
        case .noticePublished(let service, let notice):
            (.noticePublished, [.service(service)] + notice.fields(of: service))
        case .drilled(let service, _, let author): (.drilled, [.service(service), .author(author)])
        }
    }
}

extension GateLogMessage {
    /// The notice as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        let (id, fields) = details
        return JournalEntry(level.priority, sentence, messageID: id.rawValue, fields: fields)
    }

    private var details: (MessageID, [Field]) {
        switch self {
        case .moved(let service, let desired, _, _, _):
            (.gateMoved, [.service(service), .state(desired.state), .gate(desired.gate)])
        case .movedElsewhere(let service, let desired):
            (.gateMovedElsewhere, [.service(service), .state(desired.state), .gate(desired.gate)])
        case .jobRefused(let service, let job, _):
            (
                .gateMoveFailed,
                [.service(service), job.target.unit.map(Field.unit)].compactMap(\.self)
            )
        case .unitProblem(let service, let unit, let problem):
            (problem.messageID, [.service(service), .unit(unit)])
        case .unitsSlow(let service, _, _): (.unitsSlow, [.service(service)])
        case .unitsOrphaned(let service, _): (.unitsOrphaned, [.service(service)])
        case .noticeLost(let service): (.noticeLost, [.service(service)])
        case .publishFailed(let service, _): (.recordFailed, [.service(service)])
        case .busLost: (.busLost, [])
        case .busRecovered: (.busRecovered, [])
        case .startsRefused(let service, let unit, let count, _, _, let verdict):
            (
                .startRefused,
                [.service(service), .unit(unit), Field("KILLSWITCH_REFUSED_STARTS", "\(count)")]
                    + (verdict?.fields(of: service) ?? [])
            )
        case .systemdSilent: (.systemdSilent, [])
        case .systemdAnswers: (.systemdAnswers, [])
        }
    }
}

extension UnitProblem {
    fileprivate var messageID: MessageID {
        switch self {
        case .late: .unitLate
        case .killed: .unitKilled
        case .failed, .startRefused: .unitFailed
        case .runningWhileClosed: .unitIntruding
        case .escaped, .lost: .unitLost
        case .processesLeft: .unitLeftProcesses
        case .attaching, .unattached: .unitUnattached
        case .startWaits: .startWaits
        }
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
        [Field("KILLSWITCH_CAUSE", cause), Field("KILLSWITCH_UNTIL", Zone.utc.rfc3339(until))]
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

extension WriteOperation {
    fileprivate var fields: [Field] {
        switch self {
        case .storeFlags(let source), .storeVersion(let source), .dropVersion(let source),
            .reserveVersion(let source), .markConfirmed(let source):
            [.source(source)]
        case .publish(let service): [.service(service)]
        case .storeLedger, .storeOverrides: []
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
