import CivilTime

extension ServiceState {
    /// `isForced`: whether an operator's order is in force, so that the ledger tells of that alone.
    init(
        service: Service, entry: Ledger.Entry?, isForced: Bool, _ bootID: String, at now: Now
    ) {
        self.init(
            service: service,
            switches: service.switches.map { _ in SwitchState(awaitedSince: now.boot) },
            isSameBoot: false)
        if case .version(let version) = service.installed { installed = version }
        remote = service.remote.map { HeldValue(value: $0.fallback) }
        guard let entry, entry.state != .undecided else { return }
        if entry.isHeld { hold = .held }
        knownPast = entry.since
        if !isForced {
            wanted = service.policy.gate(of: entry.state)
            if wanted == .open {
                lastOpen = Verdict(state: entry.state, gate: .open, reason: .starting)
            }
        }
        guard entry.bootID == bootID else { return }
        isSameBoot = true
        if service.policy.gate(of: entry.state) == .closed {
            closedAt = now.boot - max(.zero, now.wall - entry.since)
        }
    }
}

extension Machine {
    /// Decides every service for which something changed or time has come.
    mutating func decideDue(at now: Now, _ batch: inout Batch) {
        var wishes: [Wish] = []
        for index in services.indices
        where services[index].isDue || services[index].wake.hasCome(at: now) {
            wishes.append(wish(for: index, at: now))
            services[index].isDue = false
        }
        guardClosing(wishes, &batch)
        for wish in wishes { decide(wish, at: now, &batch) }
    }

    private func wish(for index: Int, at now: Now) -> Wish {
        let state = services[index]
        let circumstances = circumstances(of: state, at: now)
        let evidence = evidence(for: state, at: now)
        let verdict = stand(state.service.decide(evidence, in: circumstances), for: state)
        return Wish(
            service: index, evidence: evidence, circumstances: circumstances, verdict: verdict,
            unforced: verdict.override == nil
                ? verdict : state.service.decide(evidence, in: circumstances.unforced))
    }

    private mutating func decide(_ decision: Wish, at now: Now, _ batch: inout Batch) {
        let index = decision.service
        let state = services[index]
        let (circumstances, evidence) = (decision.circumstances, decision.evidence)
        let wish = holdOpen(decision.verdict, of: state)
        let verdict = state.complete(holdClosed(wish, of: state, at: now))
        let edge = state.service.nextEdge(of: evidence, in: circumstances, at: now)
        if state.mustPublish(verdict, edge, at: now), !state.isAwaiting(verdict) {
            publish(verdict, of: index, edge, at: now, &batch)
        }
        services[index].wake = wake(for: services[index], evidence, circumstances, edge, at: now)
        if verdict.gate != wish.gate, let moment = state.reopening {
            services[index].wake.include(boot: moment)
        }
    }

    private mutating func publish(
        _ verdict: Verdict, of index: Int, _ edge: Instant, at now: Now, _ batch: inout Batch
    ) {
        let state = services[index]
        let name = state.service.name
        let known = ledger.entries[name]
        let isChange = known?.state != verdict.state
        let entry = Ledger.Entry(
            state: verdict.state, since: isChange ? now.wall : known?.since ?? now.wall,
            generation: (known?.generation ?? 0) + (isChange ? 1 : 0), bootID: bootID,
            isHeld: state.hold == .held)
        if entry != known {
            ledger.entries[name] = entry
            batch.isLedgerChanged = true
        }
        let before = state.record?.verdict
        if before?.state != verdict.state || before?.reason.slug != verdict.reason.slug {
            batch.notices.append(.decided(name, verdict, was: known?.state))
        }
        if verdict.gate == .closed, before?.gate != .closed, state.closedAt == nil {
            services[index].closedAt = now.boot
        } else if verdict.gate == .open {
            services[index].closedAt = nil
        }
        let record = Record(
            verdict: verdict, since: entry.since, generation: entry.generation,
            decidedAt: now.wall, fetchedAt: fetchedAt(verdict, state), nextEdge: edge)
        services[index].record = record
        if verdict.gate == .open, verdict.override == nil { services[index].lastOpen = verdict }
        batch.publications.append(.publish(name, record))
    }

    /// Lets what was decided earlier in this boot stand while a switch is waited for: a restart takes
    /// nothing back. After that wait the policy decides.
    private func stand(_ wish: Verdict, for state: ServiceState) -> Verdict {
        guard wish.state == .undecided, state.record == nil, state.isSameBoot,
            let known = ledger.entries[state.service.name]
        else { return wish }
        return Verdict(
            state: known.state, gate: state.service.policy.gate(of: known.state),
            reason: wish.reason)
    }

    /// Keeps a gate closed that closed less than `min_closed` ago. Closing is never delayed.
    private func holdClosed(_ wish: Verdict, of state: ServiceState, at now: Now) -> Verdict {
        // An operator who forces the gate open means it.
        guard wish.gate == .open, wish.override == nil,
            let reopening = state.reopening, now.boot < reopening,
            let source = wish.source ?? wish.reason.source
        else { return wish }
        if var held = state.record?.verdict, held.gate == .closed {
            held.reason = .minClosed(source)
            held.override = nil
            return held
        }
        // It closed before this start: all that is known of that is in the ledger.
        let known = ledger.entries[state.service.name]?.state ?? .maintenance
        return Verdict(state: known, gate: .closed, reason: .minClosed(source))
    }

    func circumstances(of state: ServiceState, at now: Now) -> Circumstances {
        let isBelieved = trust.believes(now) || holdEnds(for: state).map { $0 <= now.boot } ?? false
        let held = trust.heldTime(at: now)
        return Circumstances(
            time: isBelieved ? now.wall : max(held, state.knownPast ?? held),
            isClockBelieved: isBelieved, isSameBoot: state.isSameBoot,
            stood: state.isSameBoot || state.record != nil ? state.wanted : nil,
            installed: state.installed, override: overrides[state.service.name])
    }

    /// Until when a clock that is not believed holds ends and windows: for a while after the service
    /// has heard from a source, or the host from a server that says what time it is.
    private func holdEnds(for state: ServiceState) -> Boottime? {
        guard let heard = [state.firstAnswerAt, trust.firstDateAt].compactMap(\.self).min() else {
            return nil
        }
        return heard + state.service.policy.firstTimeout
    }

    /// How long a host that has woken up waits for sources, as after a start.
    private func wakingEnds(for service: Service) -> Boottime? {
        wokenAt.map { $0 + service.policy.firstTimeout }
    }

    func evidence(for state: ServiceState, at now: Now) -> [Evidence] {
        let wakingEnds = wakingEnds(for: state.service)
        return zip(state.switches, state.service.switches).map { known, plan in
            let age = known.confirmation.age(at: now)
            return Evidence(
                source: plan.source, reading: known.reading, isAnswered: known.isAnswered,
                isAwaited: isPatient && !known.isAnswered
                    && now.boot < known.awaitedSince + state.service.policy.firstTimeout,
                isWaking: wakingEnds.map { now.boot < $0 } ?? false
                    && wokenAt.map { age > now.boot - $0 } ?? false,
                age: age, problem: known.problem,
                unconfirmed: known.unconfirmed,
                version: known.reading?.version.map(String.init)
                    ?? answer(known, of: plan.source)?.version)
        }
    }

    private func answer(_ state: SwitchState, of name: SourceName) -> Answer? {
        guard let number = state.answer, let index = wiring.source(name) else { return nil }
        return sources[index].answers.first { $0.number == number }?.answer
    }

    private func fetchedAt(_ verdict: Verdict, _ state: ServiceState) -> Instant? {
        guard let source = verdict.source else { return nil }
        for (known, plan) in zip(state.switches, state.service.switches)
        where plan.source == source {
            return answer(known, of: source)?.fetchedAt
        }
        return nil
    }

    private func wake(
        for state: ServiceState, _ evidence: [Evidence], _ circumstances: Circumstances,
        _ edge: Instant, at now: Now
    ) -> Wake {
        var wake = Wake(wall: edge)
        if let record = state.record, record.nextEdge > now.wall {
            wake.include(wall: record.nextEdge)
        }
        for (known, item) in zip(state.switches, evidence) where item.isAwaited {
            wake.include(boot: known.awaitedSince + state.service.policy.firstTimeout)
        }
        if let moment = wakingEnds(for: state.service),
            evidence.contains(where: { $0.isWaking && state.service.canTurnStale($0) })
        {
            wake.include(boot: moment)
        }
        for left in evidence.compactMap(state.service.timeUntilStale) {
            wake.include(boot: now.boot + left)
        }
        if !circumstances.isClockBelieved {
            if let moment = holdEnds(for: state) { wake.include(boot: moment) }
            if let instant = trust.doubtEnds(at: now) { wake.include(wall: instant) }
        }
        return wake
    }
}

extension ServiceState {
    /// Before when a gate that closed does not reopen.
    fileprivate var reopening: Boottime? {
        closedAt.map { $0 + service.policy.minClosed }
    }

    /// Whether this is no decision, while an earlier one stands: a service that a reload has given
    /// another switch stays as it is until that one has been heard.
    fileprivate func isAwaiting(_ verdict: Verdict) -> Bool {
        guard let known = record?.verdict.state else { return false }
        return verdict.state == .undecided && known != .undecided
    }

    /// Whether the files must say something new: other facts, or a time until which they hold that
    /// has come or comes sooner. A poll that brings nothing new is no reason.
    fileprivate func mustPublish(_ verdict: Verdict, _ edge: Instant, at now: Now) -> Bool {
        guard let record else { return true }
        return record.verdict != verdict || record.nextEdge <= now.wall
            || edge + .seconds(1) < record.nextEdge
    }
}
