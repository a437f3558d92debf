/// What follows from the clocks of ends.
extension Machine {
    /// The clocks of ends may be others than before: warns about servers whose
    /// clock is far from ours.
    mutating func clocksChanged() {
        batch.messages += host.trust.popWarnings(at: now)
        markAllDue()
    }

    mutating func markAllDue() {
        for service in services.indices { services[service].markDue() }
    }

    /// Stores the clocks that a restart in this boot needs, if they are others than those stored.
    mutating func storeClocks() {
        guard let clocks = host.trust.popUnstored(bootID: host.bootID) else { return }
        ledger.clocks = clocks
        batch.isLedgerChanged = true
    }
}
