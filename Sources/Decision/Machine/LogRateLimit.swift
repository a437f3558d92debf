import CivilTime

/// Keeps the log short where a source has a new text for the same kind of problem at every poll: a
/// problem is told when it begins, and then a few times an hour at most, whatever its texts are.
struct LogRateLimit: Sendable {
    private var logged: [LogMessageKind: Logged] = [:]

    /// The notices of one kind in one hour.
    private struct Logged {
        /// When the first of them was told.
        var since: Boottime
        var count = 0
        var text: String?
    }

    private static let period: Duration = .seconds(3600)

    /// The notices that are told. A source that answers again has no problem: its next failure is told at once.
    mutating func admit(_ notices: [LogMessage], at now: Now) -> [LogMessage] {
        notices.filter { notice in
            if case .sourceRecovered(let source) = notice {
                logged = logged.filter {
                    if case .failure(source, _) = $0.key { false } else { true }
                }
            }
            guard let kind = notice.kind else { return true }
            return admit(kind, notice.text, at: now.boot)
        }
    }

    /// Forgets what was told of a source that is asked in another way now.
    mutating func forget(_ source: SourceName) {
        logged = logged.filter { $0.key.source != source }
    }

    private mutating func admit(_ kind: LogMessageKind, _ text: String?, at now: Boottime) -> Bool {
        var last = logged[kind] ?? Logged(since: now)
        if let text, text == last.text { return false }
        if now - last.since >= Self.period { last = Logged(since: now) }
        guard last.count < kind.allowance else { return false }
        last.count += 1
        last.text = text
        logged[kind] = last
        return true
    }
}

/// What notices about one problem have in common, whatever their text.
private enum LogMessageKind: Hashable {
    case failure(SourceName, Failure.Kind)
    case unwatched(SourceName)
    case warning(SourceName)
    case vanished(SourceName, key: String)
    case invalidAnswer(ServiceName, SourceName, InvalidFlag.Kind)
    case unreadableEnd(ServiceName, SourceName)
    case unknownVersion(ServiceName, SourceName)
    case invalidValue(ServiceName, ValueName, InvalidFlag.Kind)

    /// How many are told in an hour: one cause may follow another, such as a refused connection after a
    /// 404. The conditions of a template each have a warning of their own.
    var allowance: Int { if case .warning = self { 20 } else { 3 } }

    /// The source that cannot be fetched or watched, or warns; nil for what a service makes of its flags.
    var source: SourceName? {
        switch self {
        case .failure(let source, _), .unwatched(let source), .warning(let source),
            .vanished(let source, _):
            source
        case .invalidAnswer, .unreadableEnd, .unknownVersion, .invalidValue: nil
        }
    }
}

extension LogMessage {
    /// The kind of its problem; nil for a notice that is always told.
    fileprivate var kind: LogMessageKind? {
        switch self {
        case .sourceFailed(let source, let failure, _, _): .failure(source, failure.kind)
        case .sourceUnwatched(let source, _): .unwatched(source)
        case .sourceWarned(let source, _): .warning(source)
        case .flagVanished(let source, let key): .vanished(source, key: key)
        case .answerInvalid(let service, let source, let problem, _):
            .invalidAnswer(service, source, problem.kind)
        case .endUnreadable(let service, let source, _): .unreadableEnd(service, source)
        case .versionUnknown(let service, let source, _): .unknownVersion(service, source)
        case .valueInvalid(let service, let name, _, let problem):
            .invalidValue(service, name, problem.kind)
        case .decided, .sourceRecovered, .closingHeld, .closingConfirmed, .stepConfirmed,
            .recordFailed,
            .recordsRecovered, .recordUnreadable, .recordsRead, .overridden, .released,
            .overrideEnds, .overrideExpired, .forgotten,
            .noticePublished, .drilled:
            nil
        }
    }

    /// The text of a failure, which comes with every failed fetch. Other problems are announced on change only.
    fileprivate var text: String? {
        if case .sourceFailed(_, let failure, _, _) = self { failure.detail } else { nil }
    }
}
