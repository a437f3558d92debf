/// What the new verdicts and the failures among some notices say, so that no other has to.
struct Said {
    private var verdicts: [ServiceName: Reason] = [:]
    private var orders: [ServiceName: Override] = [:]
    /// The reasons that are about an answer that does not count.
    private var doubts: Set<Reason> = []
    private var failures: [SourceName: String] = [:]

    init(by notices: [Notice]) {
        for notice in notices {
            switch notice {
            case .decided(let service, let verdict, _):
                verdicts[service] = verdict.reason
                if case .invalidAnswer = verdict.reason { doubts.insert(verdict.reason) }
                orders[service] = verdict.override
            case .sourceFailed(let source, let failure, _):
                failures[source] = failure.detail
            case .sourceRecovered, .sourceUnwatched, .sourceDoubted, .flagVanished,
                .answerInvalid, .endUnreadable, .versionUnknown, .valueInvalid, .closingHeld,
                .closingConfirmed, .recordFailed, .recordsRecovered, .overridden, .released,
                .overrideExpired, .forgotten:
                break
            }
        }
    }

    /// Whether a notice is told by another one: a new verdict that gives the same trouble as its
    /// reason, or the source whose whole answer is bad.
    func covers(_ notice: Notice) -> Bool {
        switch notice {
        case .answerInvalid(let service, let source, let problem):
            verdicts[service] == .invalidAnswer(source, problem)
                || failures[source].map { problem == .notFlags($0) } ?? false
        case .endUnreadable(let service, let source, let text):
            verdicts[service] == .endUnreadable(source, text)
        case .sourceFailed(let source, let failure, _):
            doubts.contains(.invalidAnswer(source, .notFlags(failure.detail)))
        case .overridden(let service, let override):
            orders[service] == override
        case .decided, .sourceRecovered, .sourceUnwatched, .sourceDoubted, .flagVanished,
            .versionUnknown, .valueInvalid, .closingHeld, .closingConfirmed, .recordFailed,
            .recordsRecovered, .released, .overrideExpired, .forgotten:
            false
        }
    }
}

extension Notice {
    /// Whether another notice may say the same. Most never do: what a thousand verdicts say need not
    /// be searched then.
    var mayBeCovered: Bool {
        switch self {
        case .answerInvalid, .endUnreadable, .sourceFailed, .overridden: true
        case .decided, .sourceRecovered, .sourceUnwatched, .sourceDoubted, .flagVanished,
            .versionUnknown, .valueInvalid, .closingHeld, .closingConfirmed, .recordFailed,
            .recordsRecovered, .released,
            .overrideExpired, .forgotten:
            false
        }
    }
}
