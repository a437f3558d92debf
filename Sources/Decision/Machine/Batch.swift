/// The effects of one event as they gather, and the order in which they are performed.
struct Batch {
    var stores: [Effect] = []
    var isLedgerChanged = false
    var areOverridesChanged = false
    var publications: [Effect] = []
    /// What is no longer configured.
    var departures: [Effect] = []
    var confirmations: [Effect] = []
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
            + notices.count + fetches.count
        guard count > 0 || areOverridesChanged || isLedgerChanged else {
            return sleep.map { [$0] } ?? []
        }
        effects.reserveCapacity(count + 3)
        if areOverridesChanged { effects.append(.keep(overrides)) }
        if isLedgerChanged { effects.append(.remember(ledger)) }
        effects += publications
        effects += departures
        effects += confirmations
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
        let said = Said(by: notices)
        for notice in notices where !said.covers(notice) { effects.append(.announce(notice)) }
    }
}
