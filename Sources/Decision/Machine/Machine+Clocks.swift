import CivilTime

/// What follows from the clock of this host, and from what sources say of the time.
extension Machine {
    /// Looks at the clock. Where something else speaks for or against it, each service is decided anew.
    mutating func reassessClock() {
        guard host.trust.reassess(at: now) else { return }
        overviewRevision.clock += 1
        markAllDue()
    }

    /// A fetch has ended. The `Date` of an answer from a cache, or of an error page, says nothing.
    mutating func dateArrived(_ date: Instant?, with outcome: Outcome, from source: Int) {
        host.trust.fetchEnded(
            of: sources[source].name, isGood: !outcome.isFailure, date: date,
            sources[source].interval, at: now)
        reassessClock()
    }

    mutating func markAllDue() {
        for service in services.indices { services[service].markDue() }
    }

    // MARK: - Signed documents

    /// The time by which a signed document of a source may have expired.
    func time(for source: Int) -> Instant {
        let name = sources[source].name
        let ruling = host.trust.ruling(for: name, wait: .zero, at: now)
        return ruling == .counts ? now.wall : host.trust.surelyPast(for: name)
    }

    /// The largest number of signatures that a service of a source asks for.
    func mostSignatures(of source: Int) -> Int {
        index.switches[source].map { services[$0.service].service.policy.mostSignatures }.max() ?? 1
    }

    /// Shows the clock the latest `issued` that counts of a source's documents.
    mutating func issueChanged(of source: Int) {
        let plan = sources[source].plan
        let issued = plan.isSigned ? sources[source].documents.highest?.issued : nil
        host.trust.set(issued: issued, of: plan.name)
        reassessClock()
    }
}
