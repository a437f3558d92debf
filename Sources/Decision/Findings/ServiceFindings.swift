import CivilTime

/// What is wrong with a service, as facts: most decisions find the same, and then no words are made.
enum ServiceProblem: Hashable, Sendable {
    /// A switch cannot read the newest answer of its source. Without flags none were ever read.
    case invalidAnswer(SourceName, InvalidFlag, hasFlags: Bool)
    /// The verdict does not rest on current good flags.
    case degraded(Reason)
    /// Flags require this version, and the installed version is unknown.
    case versionUnknown(SourceName, Version)
    case valueInvalid(ValueName, SourceName, InvalidFlag)
    /// The order is in force, and this of its flags could not be read.
    case lenient(SourceName, String)
    case endUnreadable(SourceName, String)
    case overrideEnds(Override, at: ZonedInstant)
    /// An order without an end, given then, has stood for a day.
    case overrideStands(Override, since: ZonedInstant)
    /// The clock shows that an order has ended, and does not count for it.
    case overrideHeld(Override, at: ZonedInstant)
    case drillFailed(DrillResult)
    case zone(ZoneProblem)

    /// The finding about a service of this name.
    func finding(of service: ServiceName) -> Finding {
        Finding(
            .service(service), kind, text, matter: matter, isAlarm: isAlarm, advice: advice)
    }
}

extension ServiceProblem {
    /// The cause that the reason of a verdict is; nil if it is no problem, or another cause says it already.
    init?(_ reason: Reason) {
        guard let kind = reason.slug.finding, kind != .invalidAnswer, kind != .endUnreadable else {
            return nil
        }
        self = .degraded(reason)
    }

    private var kind: Finding.Kind {
        switch self {
        case .invalidAnswer: .invalidAnswer
        case .versionUnknown: .versionUnknown
        case .valueInvalid: .valueInvalid
        case .lenient: .sourceWarning
        case .overrideEnds: .overrideEnds
        case .overrideStands: .overrideStands
        case .overrideHeld: .clock
        case .drillFailed: .drillFailed
        case .zone: .timeZone
        case .endUnreadable: .endUnreadable
        case .degraded(let reason): reason.slug.finding ?? .clock
        }
    }

    /// Whether monitoring is told: not of flags that only decorate.
    private var isAlarm: Bool { if case .lenient = self { false } else { true } }

    /// What to do about it; nil if its kind tells that.
    private var advice: String? {
        switch self {
        case .zone(let problem): problem.advice
        case .overrideHeld:
            "type 'timedatectl set-ntp true' to have the clock synchronised, or 'killswitchctl release "
                + "SERVICE' to end the order"
        default: nil
        }
    }

    /// What is wrong, as a clause about the service.
    var text: String {
        switch self {
        case .invalidAnswer(let source, let problem, let hasFlags):
            "the last answer of source '\(source)' is invalid: \(problem); "
                + Failure.rest(hasFlags: hasFlags)
        case .degraded(let reason): reason.sentence
        case .versionUnknown(let source, let minimum):
            "source '\(source)' requires version \(quoted(minimum.text)), but the installed version "
                + "is unknown; the requirement is ignored"
        case .valueInvalid(let name, let source, let problem):
            "the value '\(name)' of source '\(source)' cannot be read: \(problem); it keeps its last "
                + "value"
        case .lenient(let source, let clause): "source '\(source)': \(clause)"
        case .endUnreadable(let source, let text): Reason.endUnreadable(source, text).sentence
        case .overrideEnds(let override, let end):
            "the order of \(quoted(override.author)) (\(override.state.rawValue)) ends at \(end); "
                + "then the flags decide"
        case .overrideStands(let override, let since):
            "the order of \(quoted(override.author)) (\(override.state.rawValue)) has stood since \(since) and has "
                + "no end: \(quoted(override.cause))"
        case .overrideHeld(let override, let end):
            "the order of \(quoted(override.author)) (\(override.state.rawValue)) was to end at \(end); it stays in "
                + "force, because nothing confirms the clock of this host"
        case .drillFailed(let drill): "its last drill has failed: \(drill.problem ?? "")"
        case .zone(let problem): problem.text
        }
    }

    /// What tells it from others of its kind, whatever its words are.
    private var matter: String {
        switch self {
        case .invalidAnswer(let source, _, _), .versionUnknown(let source, _),
            .endUnreadable(let source, _):
            source.text
        case .valueInvalid(let name, _, _): name.text
        case .lenient: text
        case .degraded(let reason): reason.slug.rawValue
        case .overrideHeld: "order"
        case .overrideEnds, .overrideStands, .drillFailed, .zone: ""
        }
    }
}

extension Reason.Slug {
    /// The kind of finding that a verdict with this reason has; nil if it is none.
    package var finding: Finding.Kind? {
        switch self {
        case .invalidAnswer, .unsigned, .trailingBytes, .tooManySignatures, .malformedSignature,
            .otherNamespace, .hashNotAccepted, .keyTypeNotAccepted, .signerNotListed,
            .signerForOtherNamespaces, .signerNotYetValid, .signerNoLongerValid, .changedBytes,
            .securityKeyUntouched, .signedMemberUnreadable, .otherAudience, .rollback,
            .sameVersionOtherBytes, .expiredAtFirstSight, .documentTooLarge, .signersUnreadable,
            .versionUnreadable, .versionNotStored:
            .invalidAnswer
        case .awaitingSignature: .awaitingSignature
        case .endUnreadable: .endUnreadable
        case .staleHold, .staleOpen, .staleClosed, .staleEnded: .stale
        case .expiredHold, .expiredOpen, .expiredClosed, .expiredEnded: .expired
        case .unprovedHold, .unprovedOpen, .unprovedClosed, .unprovedEnded: .unproved
        case .unknownOpen, .unknownClosed: .unknown
        case .unreadableOpen, .unreadableClosed: .unreadableRecord
        case .clockNotBelieved: .clock
        case .closingHeld: .closingHeld
        case .awaitingGuard: .stepHeld
        // The zone is a problem of its own.
        case .starting, .awaitingFirstAnswer, .flags, .storedFlags, .unconfirmed, .windowAhead,
            .window, .zoneUnknown, .versionTooOld, .endPassed, .rollout, .minClosed, .reopening,
            .overridden:
            nil
        }
    }
}

extension Override {
    /// When people are told that it ends: in its last quarter, at most an hour before. A short order, such
    /// as that of a drill, ends as everybody expects. Of an order without an end they are told after a day, when it may
    /// have been forgotten.
    var noticeAt: Instant? {
        guard let until else { return since + .seconds(86_400) }
        let length = until - since
        guard length >= .seconds(600) else { return nil }
        return until - min(length / 4, .seconds(3600))
    }
}

/// What is wrong with a service, as far as it follows from its state.
extension ServiceState {
    /// How many forgiven flags of one switch are shown.
    private static let mostLeniencies = 8

    /// The present problems, as of the last record. An answer without any flags is a problem of its source.
    func presentProblems(in circumstances: Circumstances) -> [ServiceProblem] {
        var causes: [ServiceProblem] = []
        if let reason = record?.verdict.reason, let cause = ServiceProblem(reason) {
            causes.append(cause)
        }
        for position in switches.indices {
            if let problem = switches[position].problem, !problem.isOfSource {
                causes.append(
                    .invalidAnswer(
                        service.switches[position].source, problem,
                        hasFlags: switches[position].reading != nil))
            }
            let source = service.switches[position].source
            for claim in switches[position].reading?.claims ?? [] {
                if case .countdown(.unreadable(let text)) = claim {
                    causes.append(.endUnreadable(source, text))
                }
                if case .minimumVersion(let minimum) = claim, installed == nil {
                    causes.append(.versionUnknown(source, minimum))
                }
            }
        }
        if let problem = service.zoneProblem { causes.append(.zone(problem)) }
        if let drill = entry?.drill?.result, !drill.isGood { causes.append(.drillFailed(drill)) }
        values.forEachProblem(of: service) { causes.append(.valueInvalid($0, $1, $2)) }
        if let override = circumstances.overrideInForce, let notice = override.noticeAt,
            notice <= circumstances.time
        {
            causes.append(problem(of: override, at: circumstances.time))
        }
        for (position, plan) in service.switches.enumerated() {
            for clause in switches[position].reading?.leniencies.prefix(Self.mostLeniencies) ?? [] {
                causes.append(.lenient(plan.source, clause))
            }
        }
        return causes
    }

    /// What people are told of an order whose time for that has come.
    private func problem(of override: Override, at time: Instant) -> ServiceProblem {
        guard let until = override.until else {
            return .overrideStands(override, since: service.zone.zoned(override.since))
        }
        let end = service.zone.zoned(until)
        return override.hasEnded(at: time)
            ? .overrideHeld(override, at: end) : .overrideEnds(override, at: end)
    }
}

extension Circumstances {
    /// The time until people are told that the override ends; nil without one, and afterwards.
    var timeUntilOverrideNotice: Duration? {
        guard let notice = overrideInForce?.noticeAt, time < notice else { return nil }
        return notice - time
    }
}
