/// Collects the effects of one event in the order in which they are performed.
struct EffectBatch {
    var messages: [LogMessage] = []
    var isLedgerChanged = false
    var areOverridesChanged = false
    private var effects: [Effect] = []
    /// Where in `effects` the files of a service are.
    private var publications: [ServiceName: Int] = [:]

    mutating func add(_ effect: Effect) { effects.append(effect) }

    /// Has the files of a service written: of two records in one event the later one.
    mutating func publish(_ record: PublishedVerdict, of service: Service) {
        let effect = Effect.publish(service, record)
        if let known = publications[service.name] {
            effects[known] = effect
        } else {
            publications[service.name] = effects.count
            effects.append(effect)
        }
    }

    /// The effects in order, closings before the other files. The batch is empty afterwards, for the next event.
    mutating func finish(
        ledger: Ledger, overrides: [ServiceName: Override], sleep: Effect?
    ) -> [Effect] {
        if areOverridesChanged { add(.storeOverrides(overrides)) }
        if isLedgerChanged { add(.storeLedger(ledger)) }
        for message in messages.withoutRepeats { add(.log(message)) }
        if let sleep { add(sleep) }
        defer { self = EffectBatch() }
        if effects.count < 2 { return effects }
        return effects.enumerated()
            .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
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
        case .publish(_, let record) where record.verdict.gate == .closed: 3
        case .publish: 4
        case .withdraw, .stopSource, .forget, .readVersion, .readAgain: 5
        case .markConfirmed: 6
        case .reject: 7
        case .log: 8
        case .announce: 9
        case .fetch, .ask: 10
        case .sleep: 11
        }
    }
}
