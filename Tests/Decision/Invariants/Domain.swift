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
            [.countdown(.unlogged)], [.countdown(.unreadable("soon"))], [.maintenance],
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

        /// Whether it makes no difference whose clock counts.
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

    /// Whose clock counts: each shows another time on the way to the ends and windows.
    static let clocks: [EndClock] = [.host, .server(now + .seconds(3600)), .held(earlier)]

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

    /// No override, each state that can be ordered, and an override that ends at this second.
    static let overrides: [Override?] =
        [nil]
        + State.allCases.map { order($0, until: later) }.filter { $0 != nil }
        + [order(.ended, until: now)]

    private static func order(_ state: State, until: Instant) -> Override? {
        Override(state: state, cause: "drill", author: "root", since: earlier, until: until)
    }
}
