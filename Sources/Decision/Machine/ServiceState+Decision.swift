import CivilTime

/// The state of the host on which the decision of every service depends.
struct HostState {
    /// The time of the present event.
    var now: Now
    var trust: ClockTrust
    let bootID: String
    /// Whether services wait for first answers.
    var awaitsFirstAnswers = true
    /// When the host last woke up, or the daemon last ran again after a pause.
    var wokenAt: Boottime?
}

/// The verdict of a service before the host guard and `min_closed` have looked at it.
struct Candidate {
    /// Its position in the plan.
    let service: Int
    let name: ServiceName
    let evidence: [Evidence]
    let circumstances: Circumstances
    let verdict: Verdict
    /// The verdict without an override.
    let unforced: Verdict
    /// The gate that its flags and its policy wanted before; nil if unknown.
    let wanted: Gate?
    /// How the end or the window was announced that closes it without an override; nil if it closes
    /// for another reason, or not.
    let lead: Lead?
    /// Whether its configuration changed since it was last decided.
    let isReconfigured: Bool
    /// What its flags announce.
    let outlook: Outlook
}

extension ServiceState {
    // MARK: - Evidence

    /// The evidence of its switches, in their order.
    func evidence(on host: HostState) -> [Evidence] {
        let now = host.now
        let wakingEnds = wakingEnds(on: host)
        return zip(switches, service.switches).map { known, plan in
            let age = known.confirmation.age(at: now)
            return Evidence(
                source: plan.source, reading: known.reading, isAnswered: known.isAnswered,
                isAwaited: host.awaitsFirstAnswers && !known.isAnswered
                    && now.boot < known.awaitedSince + service.policy.firstTimeout,
                isWaking: wakingEnds.map { now.boot < $0 } ?? false
                    && host.wokenAt.map { age > now.boot - $0 } ?? false,
                clock: clock(of: plan.source, on: host), age: age, problem: known.problem,
                unconfirmed: known.unconfirmed,
                version: known.reading?.version.map(String.init) ?? known.version)
        }
    }

    /// The circumstances of its decision.
    func circumstances(_ override: Override?, on host: HostState) -> Circumstances {
        Circumstances(
            time: host.now.wall, overrideTime: overrideTime(on: host), isSameBoot: isSameBoot,
            wantedBefore: isSameBoot || record != nil ? wanted : nil,
            installed: installed, override: override)
    }

    /// Whose clock measures the ends and windows of a source.
    private func clock(of source: SourceName, on host: HostState) -> EndClock {
        host.trust.clock(
            of: source, wait: service.policy.firstTimeout, past: knownPast, at: host.now)
    }

    /// The time for the end of an override: the earliest of the wall clock and of the servers' clocks
    /// that count for this service. A step of the clock must not end an order.
    func overrideTime(on host: HostState) -> Instant {
        service.switches.reduce(host.now.wall) { earliest, plan in
            switch clock(of: plan.source, on: host) {
            case .host, .held: earliest
            case .server(let time): min(earliest, time)
            }
        }
    }

    /// The time by which a verdict was decided: that of the clock that counts for its source.
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
    func mover(
        _ next: Reading, at position: Int, _ override: Override?, on host: HostState
    ) -> Unconfirmed? {
        let (close, open) = (service.policy.confirmClose, service.policy.confirmOpen)
        guard max(close, open) > 1, let before = switches[position].reading else { return nil }
        let source = service.switches[position].source
        let circumstances = circumstances(override, on: host)
        let gate = { (reading: Reading) in
            var evidence = Evidence(source: source, reading: reading)
            evidence.clock = clock(of: source, on: host)
            return service.opinion(of: evidence, in: circumstances)?.gate
        }
        guard let wanted = gate(next), wanted != gate(before) else { return nil }
        return Unconfirmed(gate: wanted, count: 1, needed: wanted == .closed ? close : open)
    }

    /// Adds warnings about new flags: an end that is no date, a required version while the
    /// installed version is unknown.
    func tellWarnings(
        of reading: Reading, at position: Int, before: Reading?, _ notices: inout [Notice]
    ) {
        let source = service.switches[position].source
        for claim in reading.claims where before?.claims.contains(claim) != true {
            if case .countdown(.unreadable(let text)) = claim {
                notices.append(.endUnreadable(service.name, source, text))
            }
            if case .minimumVersion(let minimum) = claim, installed == nil {
                notices.append(.versionUnknown(service.name, source, minimum))
            }
        }
    }

    // MARK: - Verdict

    /// The earlier decision of this boot, while the service waits for a switch: a restart takes
    /// nothing back. After that wait the policy decides.
    func keepDecided(_ proposal: Verdict) -> Verdict {
        guard proposal.state == .undecided, record == nil, isSameBoot, let entry else {
            return proposal
        }
        return Verdict(
            state: entry.state, gate: service.policy.gate(of: entry.state), reason: proposal.reason)
    }

    /// The last open verdict, while the host guard holds a service that would close.
    func holdOpen(_ proposal: Verdict) -> Verdict {
        guard proposal.gate == .closed, proposal.override == nil,
            let source = proposal.source ?? proposal.reason.source
        else { return proposal }
        var held = lastOpen ?? Verdict(state: .running, gate: .open, reason: .starting)
        held.reason = .closingHeld(source)
        return held
    }

    /// The last closed verdict, while the gate closed less than `min_closed` ago. Closing is never
    /// delayed.
    func holdClosed(_ proposal: Verdict, at now: Now) -> Verdict {
        // An override opens the gate at once.
        guard proposal.gate == .open, proposal.override == nil, let reopening, now.boot < reopening,
            let source = proposal.source ?? proposal.reason.source
        else { return proposal }
        if var held = record?.verdict, held.gate == .closed {
            held.reason = .minClosed(source)
            held.override = nil
            return held
        }
        // It closed before this start: the ledger holds its state and no verdict.
        return Verdict(
            state: entry?.state ?? .maintenance, gate: .closed, reason: .minClosed(source))
    }

    /// The earliest time at which a closed gate opens; nil while it is open.
    var reopening: Boottime? { closedAt.map { $0 + service.policy.minClosed } }

    /// Whether the files have to be written: the verdict changed, or their next edge has come or
    /// comes sooner. A poll without news writes nothing. After a reload a service keeps its verdict
    /// until a new switch has an answer.
    func mustPublish(
        _ verdict: Verdict, _ edge: Instant, _ window: Window?, at now: Now
    ) -> Bool {
        guard let record else { return true }
        if verdict.state == .undecided, record.verdict.state != .undecided { return false }
        return record.verdict != verdict || record.nextWindow != window
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

    /// The wake-up for the time at which time alone may change this decision.
    func nextWake(_ candidate: Candidate, _ edge: Instant, on host: HostState) -> Wake {
        let now = host.now
        var wake = Wake(wall: edge)
        if let record, record.nextEdge > now.wall { wake.include(wall: record.nextEdge) }
        for (known, item) in zip(switches, candidate.evidence) where item.isAwaited {
            wake.include(boot: known.awaitedSince + service.policy.firstTimeout)
        }
        if let moment = wakingEnds(on: host),
            candidate.evidence.contains(where: { $0.isWaking && service.canTurnStale($0) })
        {
            wake.include(boot: moment)
        }
        if let left = candidate.circumstances.timeUntilOverrideNotice {
            wake.include(wall: now.wall + left)
        }
        for left in candidate.evidence.compactMap(service.timeUntilStale) {
            wake.include(boot: now.boot + left)
        }
        for item in candidate.evidence {
            wake.include(
                host.trust.nextChange(
                    of: item.clock, of: item.source, wait: service.policy.firstTimeout, at: now))
        }
        return wake
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
    var hasNews: Bool { !publicNotices.news.isEmpty }

    // MARK: - Questions of its sources

    /// Whether a new answer brings nothing new for the service: the flags that it reads are those in
    /// force, as of the same changes. Most answers of a source that many services read do not concern
    /// most of them.
    func repeats(_ answer: NumberedAnswer, at position: Int) -> Bool {
        guard let known = switches[position].settled, readsSame(known, answer, at: position) else {
            return false
        }
        guard case .ofEach = answer.answer.version else { return true }
        return version(of: answer, at: position) == switches[position].version
    }

    /// The version of an answer for the service. A word for all flags does not count while the flags
    /// that the service reads stay the same.
    func version(of answer: NumberedAnswer, at position: Int) -> String? {
        if case .ofAll = answer.answer.version, let known = switches[position].answer,
            !known.answer.isInherited, readsSame(known, answer, at: position)
        {
            return switches[position].version
        }
        return service.version(of: answer.answer, from: service.switches[position].source)
    }

    /// Whether the service finds the same in both answers. A flag that cannot be read is not a missing one.
    private func readsSame(
        _ known: NumberedAnswer, _ answer: NumberedAnswer, at position: Int
    ) -> Bool {
        guard known.answer.unreadable == answer.answer.unreadable else { return false }
        return service.findsSame(
            in: known.flags, and: answer.flags, of: service.switches[position].source)
    }

    /// Whether a switch has read the newest answer without a problem.
    func hasRead(_ newest: Int, at position: Int) -> Bool {
        switches[position].newestReadable == newest && switches[position].problem == nil
    }

    /// Adds the numbers of the answers on which a switch and the values of its source rest.
    func addAnswers(at position: Int, to used: inout Set<Int>) {
        if let answer = switches[position].answer?.number { used.insert(answer) }
        if let staged = switches[position].staged { used.insert(staged) }
        values.addAnswers(of: service.switches[position].source, in: service, to: &used)
    }

    /// The wait between two polls that the flags of a switch ask for while the service is closed.
    func pace(at position: Int) -> Duration? {
        record?.verdict.gate == .closed ? switches[position].reading?.retryAfter : nil
    }

    /// The last rise of the version in the flags of a switch, if it looks like a mistake.
    func versionJump(at position: Int) -> VersionJump? { switches[position].versionJump }
}
