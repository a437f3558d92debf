import CivilTime

/// What follows from the clocks of ends.
extension Machine {
    /// The clocks of ends may be others than before: warns about servers whose clock is far from ours.
    mutating func clocksChanged() {
        batch.messages += host.trust.popWarnings(at: now)
        markAllDue()
    }

    /// A good answer has come, with the `Date` of its server if it has one. That of an answer from a cache is none.
    mutating func dateArrived(_ date: Instant?, from source: Int) {
        let (now, certain) = (now, host.trust.certain)
        var mirror: MirrorClock?
        if index.hasMirrors {
            let recency = ClockTrust.recency(sources[source].interval)
            let believable = date.flatMap { $0 < certain ? nil : $0 }
            mirror = sources[source].mirrors?.dateArrived(believable, recency, at: now)
        }
        let plan = sources[source].plan
        if host.trust.answerArrived(from: plan, date: date, of: mirror, at: now) { clocksChanged() }
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

    // MARK: - Signed documents

    /// The time by which a signed document of a source may have expired.
    func time(for source: Int) -> Instant {
        let clock = host.trust.clock(of: sources[source].name, wait: .zero, past: nil, at: now)
        return switch clock {
        case .host: now.wall
        case .server(let time), .held(let time): time
        }
    }

    /// The largest number of signatures that a service of a source asks for.
    func mostSignatures(of source: Int) -> Int {
        index.switches[source].map { services[$0.service].service.policy.mostSignatures }.max() ?? 1
    }

    /// Shows the clock the latest `issued` that counts of a source's documents.
    mutating func issueChanged(of source: Int) {
        let plan = sources[source].plan
        let issued = plan.isSigned ? sources[source].documents.highest?.issued : nil
        if host.trust.set(issued: issued, of: plan.name, at: now) { clocksChanged() }
    }
}
