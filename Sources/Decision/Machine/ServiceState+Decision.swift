import CivilTime

extension ServiceState {
    // MARK: - Evidence

    /// The evidence of its switches, in their order. `confirmations`: when their sources confirmed their flags.
    func evidence(_ confirmations: [Confirmation], on host: HostState) -> [Evidence] {
        switches.indices.map { evidence(of: $0, confirmed: confirmations[$0], on: host) }
    }

    /// The evidence of one switch, whose source confirmed its flags then.
    func evidence(of position: Int, confirmed: Confirmation, on host: HostState) -> Evidence {
        let now = host.now
        let source = service.switches[position].source
        let age = confirmed.age(at: now)
        let isAnswered = confirmed.moment != nil
        // By position: a copy of a switch would cost more than what is read of it.
        return Evidence(
            source: source, reading: switches[position].reading, isAnswered: isAnswered,
            isUnreadable: host.unreadable.contains(.flags(source)),
            isAwaited: host.awaitsFirstAnswers && !isAnswered
                && now.boot < switches[position].awaitedSince + service.policy.firstTimeout,
            isWaking: wakingEnds(on: host).map { now.boot < $0 } ?? false
                && host.wokenAt.map { age > now.boot - $0 } ?? false,
            clock: clock(of: source, for: switches[position].reading, on: host), age: age,
            newest: switches[position].newest,
            authors: switches[position].answer?.answer.signed?.authors ?? [],
            isUnproved: switches[position].isUnproved,
            version: switches[position].reading?.version.map(String.init)
                ?? switches[position].version)
    }

    /// The circumstances of its decision.
    func circumstances(on host: HostState) -> Circumstances {
        let override = host.overrides[service.name]
        return Circumstances(
            time: host.now.wall, isOverrideHeld: override.map { holds($0, on: host) } ?? false,
            isSameBoot: isSameBoot, wantedBefore: isFreed ? .open : wanted.inBoot,
            stateAtStart: stateAtStart,
            hasEnded: entry?.state == .ended && wanted.inBoot != .open && !isFreed,
            installed: installed,
            override: override, place: host.place)
    }

    /// Whether an order stays in force past its end.
    func holds(_ override: Override, on host: HostState) -> Bool {
        !host.trust.expiresOrders(
            thatClose: service.policy.gate(of: override.state) == .closed,
            wait: service.policy.firstTimeout, at: host.now)
    }

    /// What measures the ends of a source. A wait after a start makes a difference only to a reading of which something
    /// would come meanwhile.
    private func clock(
        of source: SourceName, for reading: Reading?, on host: HostState
    ) -> EndClock {
        let wait = service.policy.firstTimeout
        let ruling = host.trust.ruling(for: source, wait: wait, at: host.now)
        if ruling == .counts { return .host }
        let past = host.trust.surelyPast(for: source)
        let known = passed[source].map { max($0, past) } ?? past
        if ruling == .awaited {
            let (first, last) = (min(known, host.now.wall), max(known, host.now.wall))
            guard let edge = reading?.lastEdge(until: last), edge > first else { return .host }
        }
        return .held(known)
    }

    /// What has come by this decision.
    func passed(by candidate: Candidate) -> [SourceName: Instant] {
        var known = passed
        let all = candidate.evidence
        // A source that has not answered since its flags were dropped takes nothing back.
        for position in all.indices where !known.isEmpty && all[position].reading != nil {
            known[all[position].source] = nil
        }
        for position in all.indices {
            let time = all[position].time(in: candidate.circumstances)
            guard let edge = all[position].reading?.lastEdge(until: time) else { continue }
            let source = all[position].source
            known[source] = known[source].map { max($0, edge) } ?? edge
        }
        return known
    }

    /// The time by which a verdict was decided, by the clock that counts for its source.
    func time(
        of verdict: Verdict, _ evidence: [Evidence], _ circumstances: Circumstances
    ) -> Instant {
        let decisive = evidence.first { $0.source == verdict.source }
        return decisive?.time(in: circumstances) ?? circumstances.time
    }

    /// Until when a host that has woken up waits for the sources, as after a start.
    private func wakingEnds(on host: HostState) -> Boottime? {
        host.wokenAt.map { $0 + service.policy.firstTimeout }
    }

    /// A new answer as the first in a row that asks for another gate; nil if it does not move the
    /// gate. The first flags of a switch need no confirmation.
    func unconfirmedMove(_ next: Reading, at position: Int, on host: HostState) -> Unconfirmed? {
        let (close, open) = (service.policy.confirmClose, service.policy.confirmOpen)
        guard max(close, open) > 1, let before = switches[position].reading else { return nil }
        let source = service.switches[position].source
        let circumstances = circumstances(on: host)
        let gate = { (reading: Reading) in
            var evidence = Evidence(source: source, reading: reading)
            evidence.clock = clock(of: source, for: reading, on: host)
            return service.opinion(of: evidence, in: circumstances)?.gate
        }
        guard let wanted = gate(next), wanted != gate(before) else { return nil }
        return Unconfirmed(gate: wanted, count: 1, needed: wanted == .closed ? close : open)
    }

    // MARK: - Verdict

    /// Its candidate for the host guard. Call `updateAnnouncements` before.
    func candidate(
        at index: Int, _ confirmations: [Confirmation], on host: HostState
    ) -> Candidate {
        let circumstances = circumstances(on: host)
        let evidence = evidence(confirmations, on: host)
        let verdict = keepDecided(service.decide(evidence, in: circumstances))
        let unforced =
            verdict.override == nil
            ? verdict : service.decide(evidence, in: circumstances.unforced)
        return Candidate(
            service: index, name: service.name, evidence: evidence, circumstances: circumstances,
            verdict: verdict, unforced: unforced,
            wanted: isFreed ? .open : wanted.last,
            lead: announcements.lead(
                of: unforced, at: time(of: unforced, evidence, circumstances), now: host.now),
            isReconfigured: isReconfigured, isEnforced: service.isEnforced)
    }

    /// The earlier decision of this boot, while the service waits for a switch: a restart takes
    /// nothing back. After that wait the policy decides.
    func keepDecided(_ proposal: Verdict) -> Verdict {
        guard proposal.state == .undecided, record == nil, isSameBoot, !isFreed, let entry else {
            return proposal
        }
        return Verdict(
            state: entry.state, gate: service.policy.gate(of: entry.state), reason: proposal.reason)
    }

    /// The verdict after the host guard. Flags that stop units at once do so behind an operator's order too.
    func proposal(of candidate: Candidate, isHeld: Bool) -> Verdict {
        var proposal = candidate.verdict
        if isHeld { return holdOpen(proposal) }
        if proposal.gate == .closed, candidate.unforced.isUrgent { proposal.isUrgent = true }
        return proposal
    }

    /// The last open verdict, while the host guard holds a service that would close.
    private func holdOpen(_ proposal: Verdict) -> Verdict {
        guard proposal.gate == .closed, proposal.override == nil,
            let source = proposal.source ?? proposal.reason.source
        else { return proposal }
        var held = lastOpen ?? Verdict(state: .running, gate: .open, reason: .starting)
        held.reason = .closingHeld(source)
        return held
    }

    /// Since when this host waits for its turn if flags open the gate by this decision; nil if it does not wait. A
    /// gate that an operator has opened before stays open.
    ///
    /// If nothing was decided in this boot, it waits since the boot if asked. So a service that is new on a host that
    /// is long up opens at once.
    func waitBegins(_ candidate: Candidate, at now: Now) -> Boottime? {
        guard candidate.unforced.gate == .open else { return nil }
        return switch gateBefore {
        case .open: nil
        case .closed:
            candidate.circumstances.wantedBefore == .closed || wasOrdered ? now.boot : nil
        case nil: service.policy.spreadsAtBoot ? Boottime(microseconds: 0) : nil
        }
    }

    /// Whether an operator's order closed the gate, and no rehearsal: after it the flags' own rules hold again.
    private var wasOrdered: Bool {
        guard let record else { return entry?.order != nil }
        return record.verdict.override.map { !$0.isDrill } ?? false
    }

    /// What keeps the gate closed that flags have opened. Closing is never delayed, and an override opens at once.
    func hold(of proposal: Verdict, at now: Now) -> Reopening.Hold? {
        guard proposal.gate == .open, proposal.override == nil else { return nil }
        return reopening.hold(minClosed: service.policy.minClosed, at: now)
    }

    /// The last closed verdict, while something keeps the gate closed: `hold`, or a guard that holds its `turn`.
    func holdClosed(
        _ proposal: Verdict, by hold: Reopening.Hold?, _ turn: WaitingStep?
    ) -> Verdict {
        guard hold != nil || turn != nil,
            let source = proposal.source ?? proposal.reason.source,
            let reason = hold.map({ reason(of: $0, source) })
                ?? turn.flatMap({ reason(of: $0, source) })
        else { return proposal }
        if var held = record?.verdict, held.gate == .closed {
            held.reason = reason
            if held.override != nil { (held.override, held.authors) = (nil, []) }
            return held
        }
        // It closed before this start: the ledger holds its state and no verdict. Before a reboot it may have run.
        let state = entry.map(\.state) ?? .maintenance
        return Verdict(
            state: service.policy.gate(of: state) == .closed ? state : .maintenance, gate: .closed,
            reason: reason)
    }

    private func reason(of hold: Reopening.Hold, _ source: SourceName) -> Reason {
        let end = service.zone.zoned(hold.end.wall)
        return hold.awaitsTurn
            ? .reopening(source, at: end)
            : .minClosed(source, until: end, limit: ChangeShare.period(service.policy.minClosed))
    }

    /// Whether it was only observed until now, and is enforced by the next decision: its gate is open, whatever was
    /// decided.
    var isFreed: Bool {
        service.isEnforced && (record.map { !$0.verdict.isEnforced } ?? entry?.isObserved ?? false)
    }

    /// The gate as it was decided last in this boot; nil if it was not.
    var gateBefore: Gate? {
        if isFreed { return .open }
        return record?.verdict.gate
            ?? (isSameBoot ? entry.flatMap { service.policy.gate(of: $0.state) } : nil)
    }

    /// The wake-up for the time at which time alone may change this decision.
    func nextWake(_ candidate: Candidate, _ edge: Instant, on host: HostState) -> Wake {
        let now = host.now
        var wake = Wake(wall: edge)
        if let record, record.nextEdge > now.wall { wake.include(wall: record.nextEdge) }
        for position in candidate.evidence.indices where candidate.evidence[position].isAwaited {
            wake.include(boot: switches[position].awaitedSince + service.policy.firstTimeout)
        }
        if let moment = wakingEnds(on: host),
            candidate.evidence.contains(where: { $0.isWaking && service.canTurnStale($0) })
        {
            wake.include(boot: moment)
        }
        if candidate.circumstances.isOverrideHeld || candidate.evidence.contains(where: \.isHeld) {
            wake.include(host.trust.nextChange(wait: service.policy.firstTimeout, at: now))
        }
        if let left = candidate.circumstances.timeUntilOverrideNotice {
            wake.include(wall: now.wall + left)
        }
        for left in candidate.evidence.compactMap(service.timeUntilStale) {
            wake.include(boot: now.boot + left)
        }
        return wake
    }

    /// Whether the files have to be written: the verdict or the end of the drain changed, or their
    /// next edge has come or comes sooner. A poll without news writes nothing. After a reload a
    /// service keeps its verdict until a new switch has an answer.
    func mustPublish(_ verdict: Verdict, _ edge: Instant, _ window: Window?, at now: Now) -> Bool {
        guard let record else { return true }
        if verdict.state == .undecided, record.verdict.state != .undecided { return false }
        return record.verdict != verdict || record.nextWindow != window
            || record.drainsUntil != drainsUntil
            || record.nextEdge <= now.wall
            || edge + .seconds(1) < record.nextEdge
    }

    /// When the flags of a verdict were fetched; nil if it rests on none.
    func fetchedAt(_ verdict: Verdict) -> Instant? {
        guard let source = verdict.source,
            let position = service.switches.firstIndex(where: { $0.source == source })
        else { return nil }
        return switches[position].answer?.answer.fetchedAt
    }

    /// Whether it has its first decision.
    var isDecided: Bool { record.map { $0.verdict.state != .undecided } ?? false }

    /// The longest time until its first decision; nil once it is decided.
    func decidesWithin(at now: Now) -> Duration? {
        guard !isDecided else { return nil }
        let since = switches.map(\.awaitedSince).max() ?? now.boot
        return max(.zero, since + service.policy.firstTimeout - now.boot)
    }

    /// Whether its last decision has news of its ends and windows.
    var hasNewNotices: Bool { !publicNotices.pending.isEmpty }
}

/// The verdict of a service before the host guard and `min_closed` have looked at it.
struct Candidate {
    /// Its position in the plan.
    let service: Int
    let name: ServiceName
    let evidence: [Evidence]
    let circumstances: Circumstances
    var verdict: Verdict
    /// The verdict without an override.
    var unforced: Verdict
    /// The gate that its flags and its policy wanted before; nil if unknown. A waiting gate counts as closed.
    let wanted: Gate?
    /// How the end or window was announced that closes it without an override; nil if it closes otherwise, or not.
    let lead: Lead?
    /// Whether its configuration changed since it was last decided.
    let isReconfigured: Bool
    let isEnforced: Bool
    /// Its step that waits for a guard; nil without one.
    var step: WaitingStep?
}
