import CivilTime
import Decision
import Support

/// All inputs of a decision that can make a difference: readings, ages, problems, policies, circumstances
/// and overrides. The domain is finite, so that tests enumerate it.
enum Domain {
    static let now = Instant(seconds: 1_806_000_000)
    static let maxStale = Duration.seconds(3600)
    private static let later = now + .seconds(86_400)
    private static let earlier = now - .seconds(86_400)

    /// The readings: every claim before, at and after its time.
    static let readings: [Reading?] =
        [
            [.running], [.countdown(.at(later))], [.countdown(.at(now))],
            [.countdown(.at(earlier))],
            [.countdown(.unlogged)], [.countdown(.unreadable("soon"))],
            [.countdown(.within(earlier...later))], [.maintenance],
            [.updateRequired], [.updateRequired, .maintenance], [.ended],
            [.running, .window(Window(from: now, until: later))],
            [.running, .window(Window(from: earlier, until: now))],
            [.running, .window(Window(from: later, until: later + .seconds(60)))],
            [.running, .countdown(.at(later)), .window(Window(from: earlier, until: later))],
            [.running] + version("2.0"), [.running] + version("0.9"),
        ].map { Reading(claims: $0) } + [
            Reading(claims: [.running], expires: now),
            Reading(claims: [.maintenance], expires: later),
            Reading(
                claims: [.maintenance],
                rollout: Rollout(steps: [
                    Rollout.Step(at: earlier, reach: 0), Rollout.Step(at: later, reach: Slot.count),
                ])), nil,
        ]

    private static func version(_ text: String) -> [Claim] {
        Version(text).map { [.minimumVersion($0)] } ?? []
    }

    /// The kinds of answer after the flags in force.
    enum Problem: CaseIterable {
        case none, invalid, unconfirmed, awaitingSignature, unproved, disproved

        /// Whether it makes no difference whether the clock counts.
        var isTimeless: Bool {
            switch self {
            case .none, .invalid, .unconfirmed: false
            case .awaitingSignature, .unproved, .disproved: true
            }
        }

        func apply(to evidence: inout Evidence) {
            switch self {
            case .none: break
            case .invalid: evidence.newest = .invalid(.missing(key: "state"))
            case .unconfirmed:
                evidence.newest = .unconfirmed(Unconfirmed(gate: .closed, count: 1, needed: 2))
            case .awaitingSignature:
                evidence.newest = .awaitingSignature(
                    MissingSignatures(gate: .closed, authors: ["alice"], needed: 2))
            case .unproved: evidence.isUnproved = true
            case .disproved:
                evidence.isUnproved = true
                evidence.newest = .invalid(.refused(.signerNotListed, "no signer has the key"))
            }
        }
    }

    /// What measures ends and windows: the wall clock, or nothing since some time.
    static let clocks: [EndClock] = [.host, .held(earlier - .seconds(60)), .held(earlier)]

    /// All evidence of a switch. Without flags there is neither age nor answer.
    static func evidence(
        on source: SourceName, problems: [Problem] = Problem.allCases,
        clocks: [EndClock] = Domain.clocks
    ) -> [Evidence] {
        var all: [Evidence] = []
        for reading in readings {
            for problem in problems {
                for (isAnswered, isAwaited) in [(true, false), (false, true), (false, false)] {
                    guard reading != nil || !isAnswered else { continue }
                    for age in reading == nil ? [.zero] : [.zero, maxStale] {
                        for clock in reading == nil || problem.isTimeless ? [.host] : clocks {
                            var evidence = Evidence(source: source, reading: reading)
                            evidence.isAnswered = isAnswered
                            evidence.isAwaited = isAwaited
                            evidence.age = age
                            evidence.clock = clock
                            problem.apply(to: &evidence)
                            all.append(evidence)
                        }
                    }
                }
            }
        }
        return all
    }

    static let policies: [Policy] = {
        var all: [Policy] = []
        for whenUnknown in Gate.allCases {
            for atEnd in AtEnd.allCases {
                for updateRequired in Gate.allCases {
                    for whenStale in [nil] + WhenStale.allCases.map(Optional.some) {
                        all.append(
                            Policy(
                                maxStale: whenStale == nil ? nil : maxStale,
                                whenStale: whenStale ?? .hold, whenUnknown: whenUnknown,
                                atEnd: atEnd, updateRequired: updateRequired))
                    }
                }
            }
        }
        return all
    }()

    static let circumstances: [Circumstances] = {
        var all: [Circumstances] = []
        for isSameBoot in [true, false] {
            var circumstances = Circumstances(time: now, isSameBoot: isSameBoot)
            circumstances.installed = Version("1.0")
            all.append(circumstances)
        }
        all.append(Circumstances(time: now, isSameBoot: true))
        return all
    }()

    /// No override, each state that can be ordered, an override that ends at this second, and one without an end.
    static let overrides: [Override?] =
        [nil]
        + State.allCases.map { order($0, until: later) }.filter { $0 != nil }
        + [order(.ended, until: now), order(.maintenance, until: nil)]

    private static func order(_ state: State, until: Instant?) -> Override? {
        Override(state: state, cause: "drill", author: "root", since: earlier, until: until)
    }
}

/// The counts over all decisions on one switch: violations, a few lines of each kind, and every reason.
struct Census {
    private(set) var decisions = 0
    private(set) var orders: [String] = []
    private(set) var openings: [String] = []
    private(set) var changes: [String] = []
    private(set) var contradictions: [String] = []
    private(set) var closedByPolicy: [String: Int] = [:]
    private var reasons: Set<Reason> = []
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
