package import CivilTime

/// One service in virtual time: what given flags would lead to, from an instant on.
///
/// The same code decides as in the daemon, and only the world is a pretence. Each source has answered
/// at the start, or never will. Afterwards it confirms these flags for ever, so that they never grow
/// old, or is silent, so that `max_stale` counts.
package struct Simulation {
    private var machine: Machine
    private var now: Now
    private var wake = Wake()
    private var published: [Record] = []
    /// What would be said in the journal about these flags, less the verdicts.
    package private(set) var notices: [Notice] = []

    /// Begins at `start`. A source without an answer is one that never gave any.
    package init(
        _ service: Service, sources: [SourcePlan], answers: [SourceName: Answer],
        installed: Version? = nil, at start: Instant, isSilent: Bool = false
    ) {
        var service = service
        if !isSilent { service.policy.maxStale = nil }
        now = Now(wall: start, boot: Boottime(microseconds: 0))
        machine = Machine(
            plan: Plan(sources: sources, services: [service]), memory: Memory(),
            bootID: "simulation", clockFloor: start, seed: 0, at: now)
        if let installed { handle(.installed(service.name, installed)) }
        handle(.started)
        for source in sources {
            guard let answer = answers[source.name] else { continue }
            handle(.fetched(source.name, .answer(answer)))
        }
        // Whoever has not answered by now never will.
        handle(.patienceEnded)
        // What came before all had spoken is not the verdict on these flags.
        published = published.suffix(1)
    }

    /// The verdict at the start, then each change of it up to `end`, days alone left out: they change
    /// at each midnight. The time of a change is `decidedAt`.
    package mutating func records(until end: Instant) -> [Record] {
        var records = published
        while let next = nextMoment, next.wall <= end {
            now = next
            published = []
            handle(.woke)
            for record in published where record.verdict.isOther(than: records.last?.verdict) {
                records.append(record)
            }
        }
        return records
    }

    /// When the machine wants to be woken; both clocks go at the same rate.
    private var nextMoment: Now? {
        let byBoot = wake.boot.map { $0 - now.boot }
        let byWall = wake.wall.map { $0 - now.wall }
        guard let wait = [byBoot, byWall].compactMap(\.self).min() else { return nil }
        return Now(wall: now.wall + wait, boot: now.boot + wait)
    }

    /// The fetches that it asks for are left open: nobody would answer anything new.
    private mutating func handle(_ event: Event) {
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .publish(_, let record): published.append(record)
            case .sleep(let next): wake = next
            case .announce(.decided): break
            case .announce(let notice): notices.append(notice)
            case .fetch, .storeFlags, .markConfirmed, .storeLedger, .storeOverrides, .withdraw,
                .unfollow, .reject:
                break
            }
        }
    }
}

extension Verdict {
    fileprivate func isOther(than verdict: Verdict?) -> Bool {
        var (own, other) = (self, verdict)
        own.daysLeft = nil
        other?.daysLeft = nil
        return own != other
    }
}
