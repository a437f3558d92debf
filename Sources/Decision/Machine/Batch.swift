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
    /// published generation is ever taken back; then what others see.
    func effects(ledger: Ledger, overrides: [ServiceName: Override]) -> [Effect] {
        stores + (areOverridesChanged ? [.keep(overrides)] : [])
            + (isLedgerChanged ? [.remember(ledger)] : []) + publications + departures
            + confirmations
            + news.map(Effect.announce) + fetches
    }

    /// The notices less those that another one says already: one trouble is one line.
    private var news: [Notice] {
        let said = Said(by: notices)
        return notices.filter { !said.covers($0) }
    }
}
