/// Collects the effects of one event and puts them in the order in which they are performed.
struct EffectBatch {
    var stores: [Effect] = []
    var isLedgerChanged = false
    var areOverridesChanged = false
    var publications: [Effect] = []
    /// The effects about services and sources that are no longer configured.
    var departures: [Effect] = []
    var confirmations: [Effect] = []
    /// The orders that are rejected.
    var rejections: [Effect] = []
    var notices: [Notice] = []
    var fetches: [Effect] = []

    /// The effects in order: stored flags first, so that they are on disk before the machine acts
    /// on them; then the ledger, so that no published generation is taken back; then the published
    /// files, rejections, notices and fetches; last the wake-up.
    func effects(
        ledger: Ledger, overrides: [ServiceName: Override], sleep: Effect?
    ) -> [Effect] {
        var effects = stores
        let count =
            stores.count + publications.count + departures.count + confirmations.count
            + rejections.count + notices.count + fetches.count
        guard count > 0 || areOverridesChanged || isLedgerChanged else {
            return sleep.map { [$0] } ?? []
        }
        effects.reserveCapacity(count + 3)
        if areOverridesChanged { effects.append(.storeOverrides(overrides)) }
        if isLedgerChanged { effects.append(.storeLedger(ledger)) }
        effects += publications
        effects += departures
        effects += confirmations
        effects += rejections
        if !notices.isEmpty { appendNews(to: &effects) }
        effects += fetches
        if let sleep { effects.append(sleep) }
        return effects
    }

    /// Adds the notices that no other notice covers: one problem is one line.
    private func appendNews(to effects: inout [Effect]) {
        guard notices.contains(where: \.mayBeCovered) else {
            for notice in notices { effects.append(.announce(notice)) }
            return
        }
        let others = NoticeDeduplication(notices)
        for notice in notices where !others.cover(notice) { effects.append(.announce(notice)) }
    }
}

/// Finds the notices that repeat a new verdict or a failure among the same notices.
struct NoticeDeduplication {
    private var verdicts: [ServiceName: Reason] = [:]
    private var orders: [ServiceName: Override] = [:]
    /// The reasons of new verdicts that name an invalid answer.
    private var invalidAnswers: Set<Reason> = []
    private var failures: [SourceName: String] = [:]

    /// Collects the verdicts and failures among `notices`.
    init(_ notices: [Notice]) {
        for notice in notices {
            switch notice {
            case .decided(let service, let verdict, _):
                verdicts[service] = verdict.reason
                if case .invalidAnswer = verdict.reason { invalidAnswers.insert(verdict.reason) }
                orders[service] = verdict.override
            case .sourceFailed(let source, let failure, _):
                failures[source] = failure.detail
            case .sourceRecovered, .sourceUnwatched, .sourceWarned, .flagVanished,
                .answerInvalid, .endUnreadable, .versionUnknown, .valueInvalid, .closingHeld,
                .closingConfirmed, .recordFailed, .recordsRecovered, .overridden, .released,
                .overrideExpired, .forgotten:
                break
            }
        }
    }

    /// Whether another notice covers this one: a new verdict with the same problem as its reason,
    /// or a failure of the source.
    func cover(_ notice: Notice) -> Bool {
        switch notice {
        case .answerInvalid(let service, let source, let problem):
            verdicts[service] == .invalidAnswer(source, problem)
                || failures[source].map { problem == .notFlags($0) } ?? false
        case .endUnreadable(let service, let source, let text):
            verdicts[service] == .endUnreadable(source, text)
        case .sourceFailed(let source, let failure, _):
            invalidAnswers.contains(.invalidAnswer(source, .notFlags(failure.detail)))
        case .overridden(let service, let override):
            orders[service] == override
        case .decided, .sourceRecovered, .sourceUnwatched, .sourceWarned, .flagVanished,
            .versionUnknown, .valueInvalid, .closingHeld, .closingConfirmed, .recordFailed,
            .recordsRecovered, .released, .overrideExpired, .forgotten:
            false
        }
    }
}

extension Notice {
    /// Whether another notice can cover this one. If no notice of a batch can be covered, the batch
    /// is not searched.
    var mayBeCovered: Bool {
        switch self {
        case .answerInvalid, .endUnreadable, .sourceFailed, .overridden: true
        case .decided, .sourceRecovered, .sourceUnwatched, .sourceWarned, .flagVanished,
            .versionUnknown, .valueInvalid, .closingHeld, .closingConfirmed, .recordFailed,
            .recordsRecovered, .released,
            .overrideExpired, .forgotten:
            false
        }
    }
}
