/// Collects the effects of one event in the order in which they are performed.
struct EffectBatch {
    var messages: [LogMessage] = []
    /// The services whose entries in the ledger have to be stored.
    var changedEntries: Set<ServiceName> = []
    /// Whether the whole ledger has to be stored.
    var isLedgerChanged = false
    var areOverridesChanged = false
    private var effects: [Effect] = []

    /// Adds an effect after those that are performed before it.
    mutating func add(_ effect: Effect) {
        // Most effects come in their order.
        guard let last = effects.last, last.rank > effect.rank else {
            return effects.append(effect)
        }
        let position = effects.lastIndex { $0.rank <= effect.rank }.map { $0 + 1 } ?? 0
        effects.insert(effect, at: position)
    }

    /// The effects in order. The batch is empty afterwards, for the next event.
    mutating func finish(
        ledger: Ledger, overrides: [ServiceName: Override], sleep: Effect?
    ) -> [Effect] {
        if areOverridesChanged { add(.storeOverrides(overrides)) }
        if isLedgerChanged { changedEntries = Set(ledger.entries.keys) }
        if isLedgerChanged || !changedEntries.isEmpty {
            add(.storeLedger(ledger, changed: changedEntries))
        }
        for message in messages.withoutRepeats { add(.log(message)) }
        if let sleep { add(sleep) }
        defer { self = EffectBatch() }
        return effects
    }
}

extension Effect {
    /// The place in the order of effects: flags are on disk before the machine acts on them; the
    /// ledger comes before the published files, so that no published generation is taken back.
    fileprivate var rank: Int {
        switch self {
        case .setAside: -1
        case .storeFlags, .storeVersion, .dropVersion, .reserveVersion: 0
        case .storeOverrides: 1
        case .storeLedger: 2
        case .publish: 3
        case .withdraw, .stopSource, .forget, .readVersion, .readAgain: 4
        case .markConfirmed: 5
        case .reject: 6
        case .log: 7
        case .deliverNotice: 8
        case .fetch, .ask: 9
        case .sleep: 10
        }
    }
}

extension [LogMessage] {
    /// The messages without those that another covers, so that one problem is one line: a new verdict with the
    /// same problem as its reason, or a failure of the source.
    fileprivate var withoutRepeats: [LogMessage] {
        // One message alone, as most events have it, is covered by none.
        guard count > 1 else { return self }
        let verdicts = reduce(into: [ServiceName: Verdict]()) {
            if case .decided(let service, let verdict, _) = $1 { $0[service] = verdict }
        }
        let reasons = Set(verdicts.values.map(\.reason))
        let failures = reduce(into: [SourceName: InvalidFlag]()) {
            if case .sourceFailed(let source, let failure, _, _) = $1 {
                $0[source] = InvalidFlag(failure)
            }
        }
        return filter { message in
            switch message {
            case .answerInvalid(let service, let source, let problem, _):
                verdicts[service]?.reason != .invalidAnswer(source, problem)
                    && failures[source] != problem
            case .endUnreadable(let service, let source, let text):
                verdicts[service]?.reason != .endUnreadable(source, text)
            case .sourceFailed(let source, let failure, _, _):
                !reasons.contains(.invalidAnswer(source, InvalidFlag(failure)))
            case .overridden(let service, let override): verdicts[service]?.override != override
            case .decided, .sourceRecovered, .sourceUnwatched, .sourceWarned, .flagVanished,
                .versionUnknown, .valueInvalid, .closingHeld, .closingConfirmed, .stepConfirmed,
                .recordFailed,
                .recordsRecovered, .recordUnreadable, .recordsRead, .released, .overrideEnds,
                .overrideExpired, .forgotten,
                .noticePublished, .drilled:
                true
            }
        }
    }
}
