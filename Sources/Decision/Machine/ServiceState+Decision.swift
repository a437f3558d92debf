import CivilTime

/// What a service has to know of the host to be decided.
struct Context {
    let now: Now
    let trust: ClockTrust
    /// Whether a first answer is waited for at all.
    let isPatient: Bool
    /// When the host woke up last, or the daemon came to run again after a pause.
    let wokenAt: Boottime?
    let bootID: String
}

/// What one service would be decided to be, before the host guard has looked at it.
struct Candidate {
    /// Its position in the plan.
    let service: Int
    let name: ServiceName
    let evidence: [Evidence]
    let circumstances: Circumstances
    let verdict: Verdict
    /// The verdict if no operator had ordered anything.
    let unforced: Verdict
    /// The gate that its flags and its policy wanted before; nil where that is not known.
    let wanted: Gate?
    /// Whether its flags or its configuration changed since it was last decided.
    let hasNews: Bool
}

/// What came of a decision, where the files of the service have to say something new.
struct Publication {
    let record: Record
    /// What the ledger has to say of the service; nil where it says so already.
    let entry: Ledger.Entry?
    /// A new state, or another reason for it.
    let notice: Notice?
}

extension ServiceState {
    // MARK: - Evidence

    /// What its switches know, in their order.
    func evidence(in context: Context) -> [Evidence] {
        let now = context.now
        let wakingEnds = wakingEnds(in: context)
        return zip(switches, service.switches).map { known, plan in
            let age = known.confirmation.age(at: now)
            return Evidence(
                source: plan.source, reading: known.reading, isAnswered: known.isAnswered,
                isAwaited: context.isPatient && !known.isAnswered
                    && now.boot < known.awaitedSince + service.policy.firstTimeout,
                isWaking: wakingEnds.map { now.boot < $0 } ?? false
                    && context.wokenAt.map { age > now.boot - $0 } ?? false,
                age: age, problem: known.problem, unconfirmed: known.unconfirmed,
                version: known.reading?.version.map(String.init) ?? known.answer?.version)
        }
    }

    /// What else its decision depends on.
    func circumstances(_ override: Override?, in context: Context) -> Circumstances {
        let now = context.now
        let isBelieved = isClockBelieved(in: context)
        let held = context.trust.heldTime(at: now)
        return Circumstances(
            time: isBelieved ? now.wall : max(held, knownPast ?? held),
            isClockBelieved: isBelieved, isSameBoot: isSameBoot,
            stood: isSameBoot || record != nil ? wanted : nil,
            installed: installed, override: override)
    }

    /// Whether the wall clock counts for its ends and windows: it is trusted, or no longer waited for.
    func isClockBelieved(in context: Context) -> Bool {
        if context.trust.believes(context.now) { return true }
        return holdEnds(in: context).map { $0 <= context.now.boot } ?? false
    }

    /// Until when a clock that is not believed holds ends and windows.
    private func holdEnds(in context: Context) -> Boottime? {
        context.trust.holdEnds(after: service.policy.firstTimeout, heardAt: firstAnswerAt)
    }

    /// How long a host that has woken up waits for sources, as after a start.
    private func wakingEnds(in context: Context) -> Boottime? {
        context.wokenAt.map { $0 + service.policy.firstTimeout }
    }

    /// How many answers in a row it takes for a new one to move the gate; nil where it does not move
    /// it. The first flags of all need no confirmation.
    func confirmations(
        of result: Result<Reading, InvalidFlag>, at position: Int, _ override: Override?,
        in context: Context
    ) -> (gate: Gate, needed: Int)? {
        let (close, open) = (service.policy.confirmClose, service.policy.confirmOpen)
        guard max(close, open) > 1, case .success(let next) = result,
            let before = switches[position].reading
        else { return nil }
        let source = service.switches[position].source
        let circumstances = circumstances(override, in: context)
        let gate = { (reading: Reading) in
            service.opinion(of: Evidence(source: source, reading: reading), in: circumstances)?.gate
        }
        guard let wanted = gate(next), wanted != gate(before) else { return nil }
        return (wanted, wanted == .closed ? close : open)
    }

    /// Says what is new and doubtful in flags: an end that is no date, a version that cannot be
    /// compared.
    func tellDoubts(
        of reading: Reading, at position: Int, before: Reading?, _ notices: inout [Notice]
    ) {
        let source = service.switches[position].source
        if let text = reading.unreadableEnd, before?.unreadableEnd != text {
            notices.append(.endUnreadable(service.name, source, text))
        }
        if let minimum = reading.minimumVersion, before?.minimumVersion != minimum, installed == nil
        {
            notices.append(.versionUnknown(service.name, source, minimum))
        }
    }

    // MARK: - Verdict

    /// The earlier decision of this boot instead of none while a switch is waited for: a restart takes
    /// nothing back. After that wait the policy decides.
    func keepDecided(_ wish: Verdict) -> Verdict {
        guard wish.state == .undecided, record == nil, isSameBoot, let entry else { return wish }
        return Verdict(
            state: entry.state, gate: service.policy.gate(of: entry.state), reason: wish.reason)
    }

    /// The open verdict that stands while the host guard holds a service which would close.
    func holdOpen(_ wish: Verdict) -> Verdict {
        guard wish.gate == .closed, wish.override == nil,
            let source = wish.source ?? wish.reason.source
        else { return wish }
        var held = lastOpen ?? Verdict(state: .running, gate: .open, reason: .starting)
        held.reason = .closingHeld(source)
        return held
    }

    /// The closed verdict that stands while a gate closed less than `min_closed` ago. Closing is never
    /// delayed.
    func holdClosed(_ wish: Verdict, at now: Now) -> Verdict {
        // An operator who forces the gate open means it.
        guard wish.gate == .open, wish.override == nil,
            let reopening, now.boot < reopening,
            let source = wish.source ?? wish.reason.source
        else { return wish }
        if var held = record?.verdict, held.gate == .closed {
            held.reason = .minClosed(source)
            held.override = nil
            return held
        }
        // It closed before this start: all that is known of that is in the ledger.
        return Verdict(
            state: entry?.state ?? .maintenance, gate: .closed, reason: .minClosed(source))
    }

    /// Before when a gate that closed does not reopen.
    var reopening: Boottime? { closedAt.map { $0 + service.policy.minClosed } }

    /// Whether this is no decision, while an earlier one stands: a service that a reload has given
    /// another switch stays as it is until that switch has been answered.
    func isAwaiting(_ verdict: Verdict) -> Bool {
        guard let known = record?.verdict.state else { return false }
        return verdict.state == .undecided && known != .undecided
    }

    /// Whether the files must say something new: other facts, or a time until which they hold that
    /// has come or comes sooner. A poll that brings nothing new is no reason.
    func mustPublish(_ verdict: Verdict, _ edge: Instant, at now: Now) -> Bool {
        guard let record else { return true }
        return record.verdict != verdict || record.nextEdge <= now.wall
            || edge + .seconds(1) < record.nextEdge
    }

    /// When the flags were fetched that a verdict rests on.
    func fetchedAt(_ verdict: Verdict) -> Instant? {
        guard let source = verdict.source,
            let position = service.switches.firstIndex(where: { $0.source == source })
        else { return nil }
        return switches[position].answer?.fetchedAt
    }

    /// When time alone may change the decision that was just made.
    func nextWake(_ candidate: Candidate, _ edge: Instant, in context: Context) -> Wake {
        let now = context.now
        var wake = Wake(wall: edge)
        if let record, record.nextEdge > now.wall { wake.include(wall: record.nextEdge) }
        for (known, item) in zip(switches, candidate.evidence) where item.isAwaited {
            wake.include(boot: known.awaitedSince + service.policy.firstTimeout)
        }
        if let moment = wakingEnds(in: context),
            candidate.evidence.contains(where: { $0.isWaking && service.canTurnStale($0) })
        {
            wake.include(boot: moment)
        }
        for left in candidate.evidence.compactMap(service.timeUntilStale) {
            wake.include(boot: now.boot + left)
        }
        if !candidate.circumstances.isClockBelieved {
            if let moment = holdEnds(in: context) { wake.include(boot: moment) }
            if let instant = context.trust.doubtEnds(at: now) { wake.include(wall: instant) }
        }
        return wake
    }

    // MARK: - What its sources ask

    /// Whether a switch has read the newest answer, and nothing is wrong with it.
    func hasRead(_ newest: Int, at position: Int) -> Bool {
        switches[position].newestReadable == newest && switches[position].problem == nil
    }

    /// Adds the numbers of the answers that a switch and the values of its source rest on.
    func addAnswers(at position: Int, to used: inout Set<Int>) {
        if let answer = switches[position].answer { used.insert(answer.number) }
        if let staged = switches[position].staged { used.insert(staged) }
        values.addAnswers(of: service.switches[position].source, in: service, to: &used)
    }

    /// How soon the source of a switch asked to be fetched again while the gate is closed.
    func retryAfter(at position: Int) -> Duration? {
        record?.verdict.gate == .closed ? switches[position].reading?.retryAfter : nil
    }
}

extension Reading {
    fileprivate var unreadableEnd: String? {
        for case .countdown(.unreadable(let text)) in claims { return text }
        return nil
    }

    fileprivate var minimumVersion: Version? {
        for case .minimumVersion(let version) in claims { return version }
        return nil
    }
}
