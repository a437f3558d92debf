import CivilTime

/// What a signed document and the clock have to do with each other.
extension Machine {
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
