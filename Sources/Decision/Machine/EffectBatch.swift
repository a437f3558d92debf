/// The effects of one event as they gather, and the order in which they are performed.
struct EffectBatch {
    var stores: [Effect] = []
    var isLedgerChanged = false
    var areOverridesChanged = false
    var publications: [Effect] = []
    /// What is no longer configured.
    var departures: [Effect] = []
    var confirmations: [Effect] = []
    /// The orders that are not taken.
    var rejections: [Effect] = []
    var notices: [Notice] = []
    var fetches: [Effect] = []

    /// Flags first, for they are on disk before they are acted on; then the ledger, so that no
    /// published generation is ever taken back; then what others see. The last is when to wake up.
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

    /// The notices less those that another one says already: one trouble is one line.
    private func appendNews(to effects: inout [Effect]) {
        guard notices.contains(where: \.mayBeCovered) else {
            for notice in notices { effects.append(.announce(notice)) }
            return
        }
        let others = NoticeDeduplication(notices)
        for notice in notices where !others.cover(notice) { effects.append(.announce(notice)) }
    }
}

/// What the new verdicts and the failures among some notices say, so that no other notice says it too.
struct NoticeDeduplication {
    private var verdicts: [ServiceName: Reason] = [:]
    private var orders: [ServiceName: Override] = [:]
    /// The reasons that are about an answer that does not count.
    private var doubts: Set<Reason> = []
    private var failures: [SourceName: String] = [:]

    init(_ notices: [Notice]) {
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
    func cover(_ notice: Notice) -> Bool {
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
