import CivilTime
import Decision
import Testing

/// What holds for every decision, shown by going through all of them: every reading, age, doubt,
/// policy, circumstance and override.
@Suite(.timeLimit(.minutes(1))) struct InvariantTests {
    private let services: [Service]
    private let evidence: [Evidence]
    private let second: [Evidence]

    init() throws {
        services = try Domain.policies.map { try service(policy: $0, sources: ["app"]) }
        evidence = Domain.evidence(on: try named("app"))
        second = Domain.evidence(on: try named("other"), doubts: [.none])
    }

    /// Gives every decision on one switch without an override.
    private func everyDecision(_ visit: (Service, Evidence, Circumstances, Verdict) -> Void) {
        for service in services {
            for circumstances in Domain.circumstances {
                for evidence in evidence {
                    visit(
                        service, evidence, circumstances,
                        service.decide([evidence], in: circumstances))
                }
            }
        }
    }

    @Test func anErrorIsNeverAnOrder() {
        var count = 0
        var violations: [String] = []
        everyDecision { service, evidence, circumstances, verdict in
            guard evidence.problem != nil || evidence.unconfirmed != nil else { return }
            count += 1
            var sound = evidence
            sound.problem = nil
            sound.unconfirmed = nil
            let right = service.decide([sound], in: circumstances)
            var (own, other) = (verdict, right)
            own.reason = .starting
            other.reason = .starting
            if own != other { violations.append("\(evidence): \(verdict.state), \(right.state)") }
        }
        #expect(violations.prefix(3) == [])
        #expect(count > 50_000)
    }

    /// What an operator or the policy closes stays closed, whatever flags say.
    @Test func noReadingOpensWhatAnOverrideCloses() {
        var count = 0
        var violations: [String] = []
        for override in Domain.overrides.compactMap(\.self) {
            for service in services {
                let gate = service.policy.gate(of: override.state)
                for var circumstances in Domain.circumstances {
                    circumstances.override = override
                    guard circumstances.standingOverride != nil else { continue }
                    for evidence in evidence {
                        count += 1
                        let verdict = service.decide([evidence], in: circumstances)
                        guard
                            verdict.state != override.state || verdict.gate != gate
                                || verdict.reason.slug != .overridden
                        else { continue }
                        violations.append("\(override.state): \(verdict.state)")
                    }
                }
            }
        }
        #expect(violations.prefix(3) == [])
        #expect(count > 300_000)
    }

    @Test func anOverrideThatIsOverChangesNothing() {
        let over = Domain.overrides.compactMap(\.self).filter { $0.until <= Domain.now }
        #expect(over.count == 1)
        everyDecisionDiffers(under: over.first)
    }

    private func everyDecisionDiffers(under override: Override?) {
        var violations = 0
        everyDecision { service, evidence, circumstances, verdict in
            var other = circumstances
            other.override = override
            if service.decide([evidence], in: other) != verdict { violations += 1 }
        }
        #expect(violations == 0)
    }

    @Test func noReadingOpensWhatThePolicyCloses() {
        var closed = (stale: 0, unknown: 0, update: 0)
        var violations: [String] = []
        everyDecision { service, evidence, circumstances, verdict in
            let policy = service.policy
            guard verdict.state != .undecided else { return }
            var mustClose = false
            if let reading = evidence.reading {
                let isOld = policy.maxStale.map { evidence.age >= $0 } ?? false
                let isStale = isOld || reading.expires.map { circumstances.time >= $0 } ?? false
                if isStale, !evidence.isAwaited, policy.whenStale == .closed {
                    mustClose = true
                    closed.stale += 1
                }
                let keepsFlags = !isStale || evidence.isAwaited || policy.whenStale == .hold
                if reading.claims.contains(.updateRequired), policy.updateRequired == .closed,
                    keepsFlags
                {
                    mustClose = true
                    closed.update += 1
                }
            } else if policy.whenUnknown == .closed {
                mustClose = true
                closed.unknown += 1
            }
            if mustClose, verdict.gate != .closed {
                violations.append("\(policy) \(evidence): \(verdict.state)")
            }
        }
        #expect(violations.prefix(3) == [])
        #expect(closed.stale > 100 && closed.unknown > 100 && closed.update > 100)
    }

    /// Two switches: what one of them closes no other opens, and their order is of no account.
    @Test func noSwitchOpensWhatAnotherCloses() {
        var count = 0
        var violations: [String] = []
        for service in services {
            for circumstances in Domain.circumstances
            where circumstances.installed != nil && circumstances.isClockBelieved {
                let single = second.map { service.opinion(of: $0, in: circumstances) }
                for (index, one) in second.enumerated() {
                    for (other, its) in zip(second, single) {
                        count += 1
                        let verdict = service.decide([one, other], in: circumstances)
                        let isClosed = single[index]?.gate == .closed || its?.gate == .closed
                        let isOpenTogether = verdict.gate == .open
                        if isClosed != (verdict.gate == .closed) {
                            violations.append("\(one) \(other): \(verdict.state)")
                        }
                        if isOpenTogether, single[index] == nil || its == nil {
                            violations.append("\(one) \(other) did not wait")
                        }
                    }
                }
            }
        }
        #expect(violations.prefix(3) == [])
        #expect(count > 700_000)
    }

    @Test func theOrderOfSwitchesIsOfNoAccount() {
        var violations: [String] = []
        for service in services.enumerated().filter({ $0.offset.isMultiple(of: 3) }).map(\.element)
        {
            for circumstances in Domain.circumstances.prefix(4) {
                for one in second {
                    for other in second {
                        let verdict = service.decide([one, other], in: circumstances)
                        let mirrored = service.decide([other, one], in: circumstances)
                        let isSame =
                            verdict.state == mirrored.state && verdict.gate == mirrored.gate
                            && verdict.endsAt == mirrored.endsAt
                            && verdict.daysLeft == mirrored.daysLeft
                        if !isSame { violations.append("\(one) \(other): \(verdict.state)") }
                    }
                }
            }
        }
        #expect(violations.prefix(3) == [])
    }

    @Test func theSameInputGivesTheSameVerdict() throws {
        var violations = 0
        everyDecision { service, evidence, circumstances, verdict in
            if service.decide([evidence], in: circumstances) != verdict { violations += 1 }
        }
        #expect(violations == 0)
    }

    /// All that is ever given as a reason: those of decisions, and that of a gate which is held.
    @Test func everyReasonHasOneSlugAndOneSentence() throws {
        var sentences: [Reason: Set<String>] = [:]
        var slugs: [String: Set<Reason.Slug>] = [:]
        func note(_ reason: Reason) {
            sentences[reason, default: []].insert(reason.sentence)
            slugs[reason.sentence, default: []].insert(reason.slug)
        }
        everyDecision { service, evidence, circumstances, verdict in
            note(verdict.reason)
        }
        for override in Domain.overrides {
            for var forced in Domain.circumstances {
                forced.override = override
                note(services[0].decide([evidence[0]], in: forced).reason)
            }
        }
        note(.minClosed(try named("app")))
        #expect(Set(slugs.values.flatMap(\.self)) == Set(Reason.Slug.allCases))
        #expect(slugs.values.allSatisfy { $0.count == 1 })
        #expect(sentences.values.allSatisfy { $0.count == 1 })
        #expect(Set(Reason.Slug.allCases.map(\.rawValue)).count == Reason.Slug.allCases.count)
        for sentence in slugs.keys {
            #expect(!sentence.isEmpty && !sentence.hasSuffix(".") && !sentence.contains("\n"))
        }
    }

    /// A verdict agrees with itself: the gate is that of the state, and days are counted to something.
    @Test func everyVerdictAgreesWithItself() {
        var violations: [String] = []
        everyDecision { service, evidence, circumstances, verdict in
            let isConsistent =
                verdict.gate == service.policy.gate(of: verdict.state)
                && (verdict.daysLeft ?? 0) >= 0
                && (verdict.isStale
                    == [
                        .staleHold, .staleOpen, .staleClosed, .expiredHold, .expiredOpen,
                        .expiredClosed,
                    ].contains(verdict.reason.slug) || verdict.reason.slug == .endPassed)
            if !isConsistent { violations.append("\(evidence): \(verdict)") }
        }
        #expect(violations.prefix(3) == [])
    }
}
