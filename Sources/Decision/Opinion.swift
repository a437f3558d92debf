package import CivilTime

/// The state that one switch asks for now, after policy. The most restrictive opinion becomes the
/// verdict.
package struct Opinion: Hashable, Sendable {
    package var state: State
    package var gate: Gate
    package var reason: Reason
    package var endsAt: Instant?
    /// The next planned window of a service that runs.
    package var nextWindow: Window?
    package var texts = Texts()
    var retryAfter: Duration?
    /// The source of the flags that it rests on; nil if none ever came.
    package var source: SourceName?
    package var version: String?
    /// Who signed those flags.
    package var authors: [String] = []
    package var isStale = false
    /// Whether its flags have units stop at once.
    var isUrgent = false

    /// The time to which the days left are counted; nil without an end or a window.
    var deadline: Instant? { endsAt ?? nextWindow?.from }

    /// Whether this opinion is more restrictive than `other`. A closed gate outranks an open gate,
    /// whatever the states: with `update_required = "open"` an update never hides a maintenance. Of
    /// two ends, or of two windows ahead, the earlier counts.
    func outranks(_ other: Opinion) -> Bool {
        if gate != other.gate { return gate == .closed }
        if state != other.state { return state.restrictiveness > other.state.restrictiveness }
        guard let deadline else { return false }
        return other.deadline.map { deadline < $0 } ?? true
    }

    /// Takes the degraded reason of another opinion with the same state, gate and end. If two
    /// switches agree and one of them rests on degraded flags, the verdict tells so.
    mutating func adoptDegradedReason(from others: [Opinion?]) {
        guard !reason.isDegraded else { return }
        let position = others.firstIndex { $0?.isDegradedMatch(of: self) ?? false }
        guard let position, let degraded = others[position] else { return }
        reason = degraded.reason
        isStale = degraded.isStale
    }

    private func isDegradedMatch(of other: Opinion) -> Bool {
        reason.isDegraded && gate == other.gate && state == other.state && endsAt == other.endsAt
    }
}

extension Service {
    /// The opinion of one switch in these circumstances; nil while the service waits for its flags.
    ///
    /// An error is never an order: without flags the policy decides, and after an invalid answer
    /// the last good flags stay in force, with the problem as the reason.
    package func opinion(of evidence: Evidence, in circumstances: Circumstances) -> Opinion? {
        guard let reading = evidence.reading else {
            if evidence.isAwaited { return nil }
            if evidence.isUnreadable {
                let state = circumstances.stateAtStart ?? .maintenance
                let gate = policy.gate(of: state) ?? .closed
                return Opinion(
                    state: state, gate: gate, reason: .unreadableFlags(evidence.source, gate))
            }
            let gate = policy.whenUnknown
            return Opinion(
                state: gate.defaultState, gate: gate,
                reason: evidence.newest.missing.map { .awaitingSignature(evidence.source, $0) }
                    ?? .unknown(evidence.source, gate))
        }
        var mostRestrictive: Opinion?
        let wait = wait(of: reading, evidence, in: circumstances)
        var (isWithheld, isOver) = (false, true)
        for claim in reading.claims {
            guard var next = opinion(on: claim, of: evidence, in: circumstances) else { continue }
            if let wait, next.gate == .closed, !wait.isOver || !claim.comes(after: wait.arrival) {
                next.withhold()
                isWithheld = true
                isOver = isOver && claim.isOver(at: wait.arrival)
            }
            if let known = mostRestrictive, !next.outranks(known) { continue }
            mostRestrictive = next
        }
        guard var opinion = mostRestrictive else { return nil }
        if let wait, isWithheld, opinion.gate == .open {
            // The texts are those of the closing.
            let arrival = isOver ? nil : wait.arrival.map { zone.zoned($0) }
            if wait.isOver, case .held(let hold) = circumstances.stepHold {
                opinion.reason = .awaitingGuard(evidence.source, hold)
            } else {
                opinion.reason = .rollout(evidence.source, wait, from: arrival)
            }
        } else {
            opinion.texts.fill(from: reading.texts)
            opinion.retryAfter = reading.retryAfter
        }
        opinion.isUrgent = reading.isUrgent && opinion.gate == .closed
        opinion.source = evidence.source
        opinion.version = evidence.version
        opinion.authors = evidence.authors
        announce(
            reading.nextWindow(after: evidence.time(in: circumstances)), in: &opinion, evidence)
        explainProblems(&opinion, evidence, circumstances)
        return opinion
    }

    /// The wait of this host for the rollout of an order; nil without one, or once it has come and no guard holds it.
    private func wait(
        of reading: Reading, _ evidence: Evidence, in circumstances: Circumstances
    ) -> Rollout.Wait? {
        guard let rollout = reading.rollout else { return nil }
        let slot = rollout.slot(of: circumstances.place, service: name, source: evidence.source)
        if let wait = rollout.wait(of: slot, at: evidence.time(in: circumstances)) { return wait }
        return circumstances.stepHold == nil ? nil : rollout.waitBeforeStep(of: slot)
    }

    /// Nil for a claim without effect now: a window that is not open, an installed version that is
    /// new enough or unknown.
    private func opinion(
        on claim: Claim, of evidence: Evidence, in circumstances: Circumstances
    ) -> Opinion? {
        let source = evidence.source
        let time = evidence.time(in: circumstances)
        let reason: Reason = evidence.isAnswered ? .flags(source) : .storedFlags(source)
        switch claim {
        case .running: return opinion(.running, reason)
        case .maintenance: return opinion(.maintenance, reason)
        case .updateRequired: return opinion(.updateRequired, reason)
        case .ended: return opinion(.ended, reason)
        case .countdown(.unreadable(let text)):
            return opinion(.countdown, .endUnreadable(source, text))
        case .countdown(.unlogged): return opinion(.countdown, reason)
        case .countdown(.within(let range)):
            return countdown(within: range, evidence, hasEnded: circumstances.hasEnded, at: time)
        case .countdown(.at(let end)): return countdown(to: end, reason, evidence, at: time)
        case .window(let window):
            guard window.contains(time) else { return nil }
            var opinion = opinion(
                .maintenance, .window(source, until: zone.zoned(window.until)))
            opinion.texts = window.texts
            return opinion
        case .minimumVersion(let minimum):
            guard let installed = circumstances.installed, installed.isOlder(than: minimum)
            else { return nil }
            return opinion(
                .updateRequired, .versionTooOld(source, installed: installed, minimum: minimum))
        }
    }

    private func countdown(
        to end: Instant, _ reason: Reason, _ evidence: Evidence, at time: Instant
    ) -> Opinion {
        let hasPassed = time >= end
        var reason = evidence.clockReason ?? reason
        if hasPassed {
            reason = .endPassed(evidence.source, at: zone.zoned(end))
        }
        var opinion = opinion(hasPassed && policy.atEnd == .ended ? .ended : .countdown, reason)
        opinion.endsAt = end
        return opinion
    }

    /// A countdown to a local time of a zone that is not known. Until it has passed in every zone, what has come stays.
    private func countdown(
        within range: ClosedRange<Instant>, _ evidence: Evidence, hasEnded: Bool, at time: Instant
    ) -> Opinion {
        let hasPassed = time >= range.upperBound
        let isOver = hasPassed || hasEnded && time >= range.lowerBound
        return opinion(
            isOver && policy.atEnd == .ended ? .ended : .countdown,
            hasPassed
                ? .endPassed(evidence.source, at: zone.zoned(range.upperBound))
                : .zoneUnknown(evidence.source, zone: zone.name))
    }

    private func opinion(_ state: State, _ reason: Reason) -> Opinion {
        Opinion(state: state, gate: policy.gate(of: state) ?? .open, reason: reason)
    }

    /// Announces the next window of a service that runs: its texts, and the reason for its days
    /// left.
    private func announce(_ window: Window?, in opinion: inout Opinion, _ evidence: Evidence) {
        guard let window, opinion.state == .running else { return }
        opinion.nextWindow = window
        opinion.texts.fill(from: window.texts)
        if let reason = evidence.clockReason {
            opinion.reason = reason
        } else if opinion.reason == .flags(evidence.source) {
            opinion.reason = .windowAhead(
                evidence.source, from: zone.zoned(window.from), until: zone.zoned(window.until))
        }
    }

    /// Makes an invalid or unconfirmed newer answer the reason, and applies `when_stale` to stale
    /// flags.
    private func explainProblems(
        _ opinion: inout Opinion, _ evidence: Evidence, _ circumstances: Circumstances
    ) {
        if opinion.reason.yieldsToProblem {
            switch evidence.newest {
            case .accepted: break
            case .invalid(let problem): opinion.reason = .invalidAnswer(evidence.source, problem)
            case .unconfirmed(let unconfirmed):
                opinion.reason = .unconfirmed(evidence.source, unconfirmed)
            case .awaitingSignature(let missing):
                opinion.reason = .awaitingSignature(evidence.source, missing)
            }
        }
        guard let staleness = staleness(of: evidence, at: evidence.time(in: circumstances)) else {
            return
        }
        if isExcused(evidence, opinion, circumstances) { return }
        opinion.isStale = true
        // An accepted end outranks when_stale: a source that stays silent does not take it back.
        if opinion.state == .ended, opinion.gate == .closed { return }
        opinion.reason = .stale(evidence.source, staleness, policy.whenStale)
        if policy.whenStale == .ended {
            opinion.replaceGate(.closed)
            opinion.state = .ended
        } else if let gate = policy.whenStale.gate, gate != opinion.gate {
            opinion.replaceGate(gate)
        }
    }

    /// Whether stale flags still count. A source that was not polled since the start is not silent
    /// yet: a host that was off or asleep for long must not close a service before it has polled.
    /// But if the policy had moved the gate in this boot, the gate stays: a restart takes nothing
    /// back.
    private func isExcused(
        _ evidence: Evidence, _ opinion: Opinion, _ circumstances: Circumstances
    ) -> Bool {
        guard evidence.isAwaited || evidence.isWaking else { return false }
        // The source was asked for a proof, and has shown a document that is refused.
        if evidence.isUnproved, evidence.newest.problem?.kind == .refused { return false }
        let outcome = policy.whenStale.gate ?? opinion.gate
        return outcome == opinion.gate || circumstances.wantedBefore != outcome
    }

    private func staleness(of evidence: Evidence, at time: Instant) -> Staleness? {
        if evidence.isUnproved { return .unproved }
        if let maxStale = policy.maxStale, evidence.age >= maxStale { return .old }
        if let expires = evidence.reading?.expires, time >= expires { return .expired }
        return nil
    }
}

extension Claim {
    /// Whether it closes nothing any more at that time.
    fileprivate func isOver(at time: Instant?) -> Bool {
        if case .window(let window) = self, let time { window.until <= time } else { false }
    }

    /// Whether it is an end or a window that comes after that time, so that it closes the gate and no step does.
    fileprivate func comes(after time: Instant?) -> Bool {
        guard let announcement = Announcement(self), let time else { return false }
        return announcement.from > time
    }
}

extension Opinion {
    /// Keeps the gate open against a claim that closes it: an end that has come stays a countdown.
    fileprivate mutating func withhold() {
        gate = .open
        state = endsAt == nil ? .running : .countdown
        texts = Texts()
    }

    /// Takes another gate by policy, without the texts of the flags: they no longer fit.
    fileprivate mutating func replaceGate(_ gate: Gate) {
        self.gate = gate
        state = gate.defaultState
        isUrgent = false
        nextWindow = nil
        texts = Texts()
        retryAfter = nil
    }
}

extension Reason {
    /// Whether a problem of the newest answer replaces this reason.
    fileprivate var yieldsToProblem: Bool {
        switch self {
        case .flags, .storedFlags, .endUnreadable, .zoneUnknown, .windowAhead, .rollout: true
        case .starting, .awaitingFirstAnswer, .invalidAnswer, .unconfirmed, .awaitingSignature,
            .awaitingGuard, .endPassed, .window, .versionTooOld, .stale, .unknown, .unreadableFlags,
            .clockNotBelieved, .minClosed, .reopening, .closingHeld, .overridden:
            false
        }
    }
}
