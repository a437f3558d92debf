import CivilTime
import Decision

/// What time changes, and what an event comes to at its end.
extension GateMachine {
    /// Looks at everything that time has changed.
    mutating func wake(at now: Boottime, _ batch: inout GateBatch) {
        for owner in digest.wake(at: now) {
            switch owner {
            case .link: if link.wake(at: now, &batch) { recheckAll(&batch) }
            case .listed: listed.recheck(&batch)
            case .gate(let service):
                batch.recheck(service)
                closeDrained(service, at: now, &batch)
            case .unit(let unit): batch.recheck(unit)
            }
        }
    }

    /// Has every gate looked at: what is known of systemd has changed.
    func recheckAll(_ batch: inout GateBatch) { gates.keys.forEach { batch.recheck($0) } }

    mutating func publish(_ batch: inout GateBatch, at now: Boottime) -> [GateEffect] {
        for unit in batch.units {
            for service in units[unit]?.services ?? [] { batch.recheck(service) }
        }
        let context = context(now)
        return batch.services.sorted().flatMap { gates[$0]?.publish(context) ?? [] }
    }

    /// Adds up what the event has changed.
    mutating func updateSummary(_ batch: GateBatch, at now: Boottime) {
        digest.update(link: link, at: now)
        digest.update(listed: listed, link, at: now)
        for service in batch.concernsAll ? Set(gates.keys) : batch.changed {
            digest.update(missing: missing(of: service, at: now), of: service, at: now)
            if let gate = gates[service] { digest.update(gate: gate, link, at: now) }
        }
        for unit in batch.units.union(batch.detached) {
            digest.update(unit: units[unit], named: unit, at: now)
        }
    }
}
