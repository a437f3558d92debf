/// A line of the log: a finding that came or is over, or an event.
package enum LogMessage: Hashable, Sendable {
    case came(Finding)
    case over(Finding)
    /// The state or the reason of a service changed.
    case decided(ServiceName, Verdict, was: State?)
    /// The source does not hold a key any more, so that its default counts.
    case flagVanished(SourceName, key: String)
    /// More services than the limit would close, with the `earlier` ones: the host guard holds them.
    case closingHeld([ServiceName], earlier: [ServiceName], limit: Int)
    case closingConfirmed([ServiceName], by: String)
    /// An operator lets steps come that guards hold.
    case stepConfirmed([ServiceName], by: String)
    case overridden(ServiceName, Override)
    case released(ServiceName, Override, by: String)
    case overrideExpired(ServiceName, Override)
    /// An operator dropped the flags of a source, with a `versionCause` also the highest version of its documents.
    case forgotten(SourceName, by: String, versionCause: String? = nil)
    case noticePublished(ServiceName, PublicNotice)
    /// So many changes of its mind were not carried out, because they followed each other too soon.
    case changesHeld(ServiceName, Int)
    case drilled(ServiceName, DrillResult, by: String)

    /// The priority of the line, by the names of syslog(3): at `error` the operator has to act.
    package enum Level: Sendable { case error, warning, notice, info }

    package var level: Level {
        switch self {
        case .came(let finding): finding.level
        case .over: .info
        case .decided(_, let verdict, _): verdict.reason.isDegraded ? .warning : .notice
        case .flagVanished: .warning
        case .overridden, .released, .overrideExpired, .forgotten, .closingConfirmed,
            .stepConfirmed, .noticePublished:
            .notice
        case .changesHeld: .warning
        case .closingHeld: .error
        case .drilled(_, let drill, _): drill.isGood ? .notice : .error
        }
    }

    /// The kind of the event; nil for a finding that came, which has a kind of its own.
    package var kind: Kind? {
        switch self {
        case .came: nil
        case .over(let finding): finding.kind.end
        case .decided: .decided
        case .flagVanished: .flagVanished
        case .closingHeld: .closingHeld
        case .closingConfirmed: .closingConfirmed
        case .stepConfirmed: .stepConfirmed
        case .overridden: .overridden
        case .released: .released
        case .overrideExpired: .overrideExpired
        case .forgotten: .forgotten
        case .noticePublished: .noticePublished
        case .changesHeld: .changesHeld
        case .drilled: .drilled
        }
    }

    /// The line for people: the event and its consequence.
    package var sentence: String {
        switch self {
        case .came(let finding): finding.sentence
        case .over(let finding): "over: \(finding.sentence)"
        case .decided(let service, let verdict, let was):
            verdict.announcement(of: service, was: was)
        case .flagVanished(let source, let key):
            "source '\(source)' no longer has key \(quoted(key)); the configured default is in force"
        case .closingHeld(let services, let earlier, let limit):
            "\(services.count + earlier.count) services would close at once (close_at_once is "
                + "\(limit)); held open until 'killswitchctl confirm': "
                + services.map(\.text).joined(separator: ", ")
                + (earlier.isEmpty
                    ? "" : "; just closed: " + earlier.map(\.text).joined(separator: ", "))
        case .closingConfirmed(let services, let author):
            "\(quoted(author)) confirms their closing: "
                + services.map(\.text).joined(separator: ", ")
        case .stepConfirmed(let services, let author):
            "\(quoted(author)) confirms their step, which a guard holds: "
                + services.map(\.text).joined(separator: ", ")
        case .overridden(let service, let override):
            "\(service): \(quoted(override.author)) forces state \(override.state.rawValue): "
                + "\(quoted(override.cause))"
        case .released(let service, let override, let author):
            "\(service): released from \(override.state.rawValue) by \(quoted(author)); the flags "
                + "decide again"
        case .overrideExpired(let service, let override):
            "\(service): the order of \(quoted(override.author)) "
                + "(\(override.state.rawValue)) has expired; the flags decide again"
        case .forgotten(let source, let author, nil):
            "source '\(source)': \(quoted(author)) deleted its stored flags; fetching them again"
        case .forgotten(let source, let author, let cause?):
            "source '\(source)': \(quoted(author)) deleted its stored flags and the highest version of "
                + "its signed documents: \(quoted(cause)); fetching them again"
        case .noticePublished(let service, let notice): notice.sentence(of: service)
        case .changesHeld(let service, let count):
            "\(service): \(count) more \(count == 1 ? "change" : "changes") of the decision came too soon after another; "
                + "the last one counts"
        case .drilled(let service, let drill, let author):
            "\(service): the drill of \(quoted(author)) "
                + (drill.problem.map { "has failed: \($0)" } ?? "has succeeded")
        }
    }
}

extension Finding {
    /// Whether it is that the last fetch of a source failed.
    fileprivate func isFailure(of source: SourceName) -> Bool {
        subject == .source(source) && (kind == .source || kind == .documentRefused)
    }
}

extension [LogMessage] {
    /// The messages, but for findings that an event beside them tells: what a new verdict gives as its reason, and the
    /// end of what was wrong with a service that is decided anew.
    var withoutRepeats: [LogMessage] {
        // One message alone, as most events have it, repeats none.
        guard count > 1 else { return self }
        let verdicts = reduce(into: [ServiceName: Verdict]()) {
            if case .decided(let service, let verdict, _) = $1 { $0[service] = verdict }
        }
        if verdicts.isEmpty { return self }
        let reasons = verdicts.values.map(\.reason)
        let sentences = Set(reasons.map(\.sentence))
        let invalid = reasons.compactMap {
            if case .invalidAnswer(let source, _) = $0 { source } else { nil }
        }
        return filter { message in
            switch message {
            case .came(let finding):
                !sentences.contains(finding.text) && !invalid.contains { finding.isFailure(of: $0) }
            case .over(let finding): !finding.subject.services.contains { verdicts[$0] != nil }
            case .overridden(let service, let override): verdicts[service]?.override != override
            default: true
            }
        }
    }
}

extension Verdict {
    fileprivate func announcement(of service: ServiceName, was: State?) -> String {
        var text = "\(service): \(state.rawValue)"
        if let was, was != state { text += " (was \(was.rawValue))" }
        if let daysLeft, state == .countdown {
            text += ", \(daysLeft) \(daysLeft == 1 ? "day" : "days") left"
        }
        if !isEnforced, let gate { text += ", \(gate.ifEnforced) ('enforce = false')" }
        return text + ": " + cause
    }

    /// The reason as a clause, and who signed the flags.
    package var cause: String {
        guard override == nil, !authors.isEmpty else { return reason.sentence }
        return reason.sentence + reason.signedFlags + authors.map(quoted).joined(separator: ", ")
    }
}

extension Reason {
    /// Which flags the authors of the verdict have signed, to follow the sentence of the reason.
    fileprivate var signedFlags: String {
        switch self {
        case .invalidAnswer, .unconfirmed, .awaitingSignature, .awaitingGuard(_, _, isTurn: false),
            .stale, .closingHeld, .rollout,
            .clockNotBelieved, .endUnreadable, .zoneUnknown:
            "; the flags in force are signed by "
        case .minClosed, .reopening, .awaitingGuard: "; the flags that closed it are signed by "
        case .starting, .awaitingFirstAnswer, .flags, .storedFlags, .windowAhead, .window,
            .versionTooOld, .endPassed, .unknown, .unreadableFlags, .overridden:
            ", signed by "
        }
    }
}
