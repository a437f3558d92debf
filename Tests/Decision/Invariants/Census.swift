import CivilTime
import Decision
import Support

/// The counts over all decisions on one switch: violations, a few lines of each kind, and every reason.
struct Census {
    private(set) var decisions = 0
    private(set) var orders: [String] = []
    private(set) var openings: [String] = []
    private(set) var changes: [String] = []
    private(set) var contradictions: [String] = []
    /// How often the policy had to close, by cause.
    private(set) var closedByPolicy: [String: Int] = [:]
    private var reasons: Set<Reason> = []
    /// The slugs that go with each sentence.
    private(set) var slugs: [String: Set<Reason.Slug>] = [:]

    mutating func count(
        _ evidence: Evidence, of service: Service, in circumstances: Circumstances
    ) {
        decisions += 1
        let verdict = service.decide([evidence], in: circumstances)
        let line = { "\(service.policy) \(circumstances) \(evidence): \(verdict)" }
        if service.decide([evidence], in: circumstances) != verdict { changes.append(line()) }
        if isOrdered(by: evidence, of: service, in: circumstances, verdict) {
            orders.append(line())
        }
        if let cause = Self.closing(evidence, by: service.policy, in: circumstances),
            verdict.state != .undecided
        {
            closedByPolicy[cause, default: 0] += 1
            if verdict.gate != .closed { openings.append(line()) }
        }
        if !Self.isConsistent(verdict, under: service.policy) { contradictions.append(line()) }
        record(verdict.reason)
    }

    mutating func record(_ reason: Reason) {
        guard reasons.insert(reason).inserted else { return }
        slugs[reason.sentence, default: []].insert(reason.slug)
    }

    /// The reasons of every override.
    mutating func record(overridesOf service: Service) throws {
        for override in Domain.overrides {
            var circumstances = Domain.circumstances[0]
            circumstances.override = override
            record(service.decide([Evidence(source: "app")], in: circumstances).reason)
        }
    }

    /// Whether an answer that is invalid, unconfirmed or not signed by enough people changed the verdict.
    private func isOrdered(
        by evidence: Evidence, of service: Service, in circumstances: Circumstances,
        _ verdict: Verdict
    ) -> Bool {
        // Flags that are unproved count until the source has shown a document that is refused.
        guard !evidence.isUnproved, !evidence.newest.isAccepted else { return false }
        var sound = evidence
        sound.newest = .accepted
        var right = service.decide([sound], in: circumstances)
        right.reason = verdict.reason
        return right != verdict
    }

    /// Why the policy closes here, by another algorithm than the decision's; nil if it does not close.
    private static func closing(
        _ evidence: Evidence, by policy: Policy, in circumstances: Circumstances
    ) -> String? {
        guard let reading = evidence.reading else {
            return policy.whenUnknown == .closed ? "unknown" : nil
        }
        let isOld = policy.maxStale.map { evidence.age >= $0 } ?? false
        let hasExpired = reading.expires.map { evidence.time(in: circumstances) >= $0 } ?? false
        let isDisproved = evidence.isUnproved && evidence.newest.problem?.kind == .refused
        let isStale =
            (isOld || hasExpired || evidence.isUnproved) && (!evidence.isAwaited || isDisproved)
        if isStale, policy.whenStale == .closed { return "stale" }
        let isUpdate = reading.claims.contains(.updateRequired) && policy.updateRequired == .closed
        return isUpdate && !(isStale && policy.whenStale == .open) ? "update" : nil
    }

    private static func isConsistent(_ verdict: Verdict, under policy: Policy) -> Bool {
        let isStale: Bool
        if case .stale = verdict.reason { isStale = true } else { isStale = false }
        return verdict.gate == policy.gate(of: verdict.state) && (verdict.daysLeft ?? 0) >= 0
            && (verdict.isStale == isStale
                || verdict.isStale && verdict.state == .ended && verdict.gate == .closed)
    }
}
