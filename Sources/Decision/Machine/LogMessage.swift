package import CivilTime

/// A fact worth one line in the log.
package enum LogMessage: Hashable, Sendable {
    /// The state or the reason of a service changed.
    case decided(ServiceName, Verdict, was: State?)
    /// A fetch failed. Without flags, none of the source are known.
    case sourceFailed(SourceName, Failure, retryIn: Duration, hasFlags: Bool)
    case sourceRecovered(SourceName)
    /// Changes of the source are seen at polls only, because of this problem.
    case sourceUnwatched(SourceName, String)
    /// A warning about good flags, as a clause.
    case sourceWarned(SourceName, String)
    /// The source does not hold a key any more, so that its default counts.
    case flagVanished(SourceName, key: String)
    /// A service cannot read an answer. Without flags, it never read any of the source.
    case answerInvalid(ServiceName, SourceName, InvalidFlag, hasFlags: Bool)
    case endUnreadable(ServiceName, SourceName, String)
    /// Flags require a version, and the installed version is unknown.
    case versionUnknown(ServiceName, SourceName, Version)
    case valueInvalid(ServiceName, ValueName, SourceName, InvalidFlag)
    /// More services than the limit would close, with the `earlier` ones: the host guard holds them.
    case closingHeld([ServiceName], earlier: [ServiceName], limit: Int)
    case closingConfirmed([ServiceName], by: String)
    /// An operator lets steps come that guards hold.
    case stepConfirmed([ServiceName], by: String)
    case recordFailed(WriteOperation, problem: String)
    case recordsRecovered
    /// A stored file cannot be read, as a sentence that says what is kept.
    case recordUnreadable(String)
    case recordsRead
    case overridden(ServiceName, Override)
    case released(ServiceName, Override, by: String)
    case overrideEnds(ServiceName, Override, at: ZonedInstant)
    case overrideExpired(ServiceName, Override)
    /// An operator dropped the flags of a source, with a `versionCause` also the highest version of its documents.
    case forgotten(SourceName, by: String, versionCause: String? = nil)
    case noticePublished(ServiceName, PublicNotice)
    case drilled(ServiceName, DrillResult, by: String)

    /// The priority of the line, by the names of syslog(3): at `error` the operator has to act.
    package enum Level: Sendable { case error, warning, notice, info }

    package var level: Level {
        switch self {
        case .decided(_, let verdict, _): verdict.reason.isDegraded ? .warning : .notice
        case .sourceFailed, .sourceUnwatched, .sourceWarned, .flagVanished, .answerInvalid,
            .endUnreadable, .versionUnknown, .valueInvalid:
            .warning
        case .overridden, .released, .overrideEnds, .overrideExpired, .forgotten,
            .closingConfirmed, .stepConfirmed, .noticePublished:
            .notice
        case .sourceRecovered, .recordsRecovered, .recordsRead: .info
        case .recordFailed, .recordUnreadable, .closingHeld: .error
        case .drilled(_, let drill, _): drill.isGood ? .notice : .error
        }
    }

    /// The line for people: the event and its consequence.
    package var sentence: String {
        switch self {
        case .decided(let service, let verdict, let was):
            verdict.announcement(of: service, was: was)
        case .sourceFailed(let source, let failure, let wait, let hasFlags):
            "source '\(source)': \(failure.detail); \(Self.rest(hasFlags: hasFlags)), retrying in "
                + "\(wait.rounded)"
        case .sourceRecovered(let source): "source '\(source)' answers again"
        case .sourceUnwatched(let source, let problem):
            "source '\(source)': \(problem); changes are seen at the next poll only"
        case .sourceWarned(let source, let warning): "source '\(source)': \(warning)"
        case .flagVanished(let source, let key):
            "source '\(source)' no longer has key \(quoted(key)); the configured default is in force"
        case .answerInvalid(let service, let source, let problem, let hasFlags):
            "\(service): "
                + ServiceProblem.Cause.invalidAnswer(source, problem, hasFlags: hasFlags).text
        case .endUnreadable(let service, let source, let text):
            "\(service): \(Reason.endUnreadable(source, text).sentence)"
        case .versionUnknown(let service, let source, let minimum):
            "\(service): \(ServiceProblem.Cause.versionUnknown(source, minimum).text)"
        case .valueInvalid(let service, let name, let source, let problem):
            "\(service): \(ServiceProblem.Cause.valueInvalid(name, source, problem).text)"
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
        case .recordFailed(let operation, let problem): "\(operation.failure): \(problem); retrying"
        case .recordsRecovered: "every failed write has now succeeded"
        case .recordUnreadable(let sentence): sentence
        case .recordsRead: "stored files that could not be read are read now"
        case .overridden(let service, let override):
            "\(service): \(quoted(override.author)) forces state \(override.state.rawValue): "
                + "\(quoted(override.cause))"
        case .released(let service, let override, let author):
            "\(service): released from \(override.state.rawValue) by \(quoted(author)); the flags "
                + "decide again"
        case .overrideEnds(let service, let override, let end):
            "\(service): " + ServiceProblem.Cause.overrideEnds(override, at: end).text
        case .overrideExpired(let service, let override):
            "\(service): the order of \(quoted(override.author)) "
                + "(\(override.state.rawValue)) has expired; the flags decide again"
        case .forgotten(let source, let author, nil):
            "source '\(source)': \(quoted(author)) deleted its stored flags; fetching them again"
        case .forgotten(let source, let author, let cause?):
            "source '\(source)': \(quoted(author)) deleted its stored flags and the highest version of "
                + "its signed documents: \(quoted(cause)); fetching them again"
        case .noticePublished(let service, let notice): notice.sentence(of: service)
        case .drilled(let service, let drill, let author):
            "\(service): the drill of \(quoted(author)) "
                + (drill.problem.map { "has failed: \($0)" } ?? "has succeeded")
        }
    }

    /// The flags in force without the newest answer, as the end of a sentence.
    package static func rest(hasFlags: Bool) -> String {
        hasFlags ? "the last good flags stay in force" : "no valid flags are known yet"
    }
}

extension Verdict {
    fileprivate func announcement(of service: ServiceName, was: State?) -> String {
        var text = "\(service): \(state.rawValue)"
        if let was, was != state { text += " (was \(was.rawValue))" }
        if let daysLeft, state == .countdown {
            text += ", \(daysLeft) \(daysLeft == 1 ? "day" : "days") left"
        }
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

extension WriteOperation {
    var failure: String {
        switch self {
        case .storeFlags(let source): "cannot store the flags of source '\(source)'"
        case .markConfirmed(let source): "cannot mark the flags of source '\(source)' as confirmed"
        case .storeVersion(let source): "cannot store the highest version of source '\(source)'"
        case .dropVersion(let source): "cannot delete the highest version of source '\(source)'"
        case .reserveVersion(let source):
            "cannot reserve space for the highest version of source '\(source)'"
        case .storeLedger: "cannot store the states"
        case .storeOverrides: "cannot store the orders"
        case .publish(let service): "cannot write the files of service '\(service)'"
        }
    }
}

extension Duration {
    /// For people: whole seconds, or milliseconds below two seconds.
    fileprivate var rounded: String {
        let milliseconds = microseconds / 1000
        return milliseconds < 2000 ? "\(milliseconds) ms" : "\((milliseconds + 500) / 1000) s"
    }
}
