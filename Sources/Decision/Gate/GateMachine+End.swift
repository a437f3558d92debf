import CivilTime

/// What time changes, and what an event comes to at its end.
extension GateMachine {
    /// Looks at everything that time has changed.
    mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        for owner in digest.wake(at: now) {
            switch owner {
            case .link: if link.wake(at: now, &batch) { touchAll(&batch) }
            case .listed: listed.touch(&batch)
            case .gate(let service):
                batch.touch(service)
                closeDrained(service, at: now, &batch)
            case .unit(let unit): batch.touch(unit)
            }
        }
    }

    /// Has every gate looked at: what is known of systemd has changed.
    func touchAll(_ batch: inout GateBatch) { gates.keys.forEach { batch.touch($0) } }

    mutating func publish(_ batch: inout GateBatch, at now: Boottime) -> [GateEffect] {
        for unit in batch.units {
            for service in units[unit]?.services ?? [] { batch.touch(service) }
        }
        let rest = surroundings(now)
        return batch.services.sorted().flatMap { gates[$0]?.publish(rest) ?? [] }
    }

    /// Adds up what the event has changed.
    mutating func sum(_ batch: GateBatch, at now: Boottime) {
        digest.note(link, at: now)
        digest.note(listed, link, at: now)
        for service in batch.concernsAll ? Set(gates.keys) : batch.changed {
            digest.note(missing(of: service, at: now), of: service, at: now)
            if let gate = gates[service] { digest.note(gate, link, at: now) }
        }
        for unit in batch.units.union(batch.detached) {
            digest.note(units[unit], named: unit, at: now)
        }
    }
}
