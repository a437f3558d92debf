package import CivilTime

/// One service in virtual time: the verdicts that given flags lead to, from an instant on.
///
/// The daemon's machine decides; only the world is simulated. Each source answers at the start or
/// never. Afterwards it either confirms these flags for ever, so that they never become stale, or
/// it is silent, so that `max_stale` counts.
package struct Simulation {
    private var machine: Machine
    private var now: Now
    private var wake = Wake()
    private var published: [PublishedVerdict] = []
    /// The lines that the journal would get about these flags, without the verdicts.
    package private(set) var notices: [LogMessage] = []

    /// Begins at `start`. A source without an answer never gave flags. `isSilent`: none confirms its flags later.
    /// `before`: the flags in force, whose version an answer may not go below.
    package init(
        _ service: Service, sources: [SourcePlan], answers: [SourceName: Answer],
        before: [SourceName: Answer] = [:], installed: Version? = nil,
        on place: HostPlace = .named(""),
        within slots: SlotRange = .all, at start: Instant, isSilent: Bool = false
    ) {
        var service = service
        if !isSilent { service.policy.maxStale = nil }
        // The virtual clocks begin with a boot, which is no part of the question.
        service.policy.spreadsAtBoot = false
        var lead = Duration.zero
        if !before.isEmpty {
            // Nor is what delays the change from the flags before.
            (service.policy.confirmClose, service.policy.confirmOpen) = (1, 1)
            (service.policy.openSpread, service.activation) = (.zero, .immediate)
            lead = service.policy.minClosed + .seconds(1)
        }
        // The question names the time, whatever a document says.
        now = Now(wall: start - lead, boot: Boottime(microseconds: 0), isSynchronised: true)
        machine = Machine(
            plan: Plan(sources: sources, services: [service], slots: slots), memory: Memory(),
            place: place, bootID: "simulation", clockFloor: start - lead, seed: 0, at: now)
        if let installed { handle(.versionInstalled(service.name, installed)) }
        handle(.started)
        for source in sources {
            if let first = before[source.name] {
                handle(.fetchEnded(source.name, .answer(first)))
            }
        }
        notices = []
        now = Now(wall: start, boot: now.boot + lead, isSynchronised: true)
        for source in sources {
            if let answer = answers[source.name] {
                handle(.fetchEnded(source.name, .answer(answer)))
            }
        }
        // A source without an answer stays silent: nothing is waited for.
        handle(.startupWaitEnded)
        // The records before the last answer do not rest on all flags.
        published = published.suffix(1)
        // One that says the same as the flags before was published with those.
        if let last = published.indices.last { published[last].decidedAt = start }
    }

    /// The record at the start, then each change up to `end`, of more than the days left, at its `decidedAt`.
    package mutating func records(until end: Instant) -> [PublishedVerdict] {
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

    /// The time of the next wake-up; nil without one. Both clocks run at the same rate.
    private var nextMoment: Now? {
        let byBoot = wake.boot.map { $0 - now.boot }
        let byWall = wake.wall.map { $0 - now.wall }
        guard let wait = [byBoot, byWall].compactMap(\.self).min() else { return nil }
        return Now(wall: now.wall + wait, boot: now.boot + wait, isSynchronised: true)
    }

    /// Performs no fetch: no source would give a new answer.
    private mutating func handle(_ event: Event) {
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .publish(_, let record): published.append(record)
            case .sleep(let next): wake = next
            case .log(.decided), .log(.noticePublished): break
            case .log(let notice): notices.append(notice)
            case .storeVersion(let source, _):
                // Nothing is stored, and nothing can fail.
                handle(.writeEnded(.storeVersion(source), problem: nil))
            default: break
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
