import CivilTime

/// What is wrong with a service, as facts: the words are made when somebody asks, since there may be many.
struct ServiceProblem: Hashable, Sendable {
    let cause: Cause
    let since: Instant

    /// The facts.
    enum Cause: Hashable, Sendable {
        /// A switch cannot read the newest answer of its source. Without flags none were ever read.
        case invalidAnswer(SourceName, InvalidFlag, hasFlags: Bool)
        /// The verdict does not rest on current good flags.
        case degraded(Reason)
        /// Flags require this version, and the installed version is unknown.
        case versionUnknown(SourceName, Version)
        case valueInvalid(ValueName, SourceName, InvalidFlag)
        /// The order is in force, and this of its flags could not be read.
        case lenient(SourceName, String)
        case overrideEnds(Override, at: ZonedInstant)
        /// The clock shows that an order has ended, and does not count for it.
        case overrideHeld(Override, at: ZonedInstant)
        case drillFailed(DrillResult)
        case zone(ZoneProblem)
    }

    /// The problem of a service of this name in words.
    func problem(of service: ServiceName) -> Problem {
        Problem(
            .service(service), cause.kind, cause.text, since: since, isAlarm: cause.isAlarm,
            advice: cause.advice)
    }
}

/// The problems of a service, each with the time at which it began.
struct ServiceProblems: Hashable, Sendable {
    private(set) var all: [ServiceProblem] = []

    var isEmpty: Bool { all.isEmpty }

    /// Updates to the present causes, and returns the new ones. One whose text alone has changed began before.
    mutating func update(from causes: [ServiceProblem.Cause], at now: Instant) -> [ServiceProblem
        .Cause]
    {
        if causes.isEmpty {
            if !all.isEmpty { all = [] }
            return []
        }
        let before = all
        all = causes.map { cause in
            let known = before.first { $0.cause.isSameMatter(as: cause) }
            return ServiceProblem(cause: cause, since: known?.since ?? now)
        }
        return causes.filter { cause in !before.contains { $0.cause == cause } }
    }
}

extension ServiceProblem.Cause {
    /// The cause that the reason of a verdict is; nil if it is no problem, or another cause says it already.
    init?(_ reason: Reason) {
        guard let kind = reason.slug.problemKind, kind != .invalidAnswer else { return nil }
        self = .degraded(reason)
    }

    var kind: Problem.Kind {
        switch self {
        case .invalidAnswer: .invalidAnswer
        case .versionUnknown: .versionUnknown
        case .valueInvalid: .valueInvalid
        case .lenient: .sourceWarning
        case .overrideEnds: .overrideEnds
        case .overrideHeld: .clock
        case .drillFailed: .drillFailed
        case .zone: .timeZone
        case .degraded(let reason): reason.slug.problemKind ?? .clock
        }
    }

    /// Whether monitoring is told: not of flags that only decorate.
    var isAlarm: Bool { if case .lenient = self { false } else { true } }

    /// What to do about it; nil if its kind tells that.
    var advice: String? {
        switch self {
        case .zone(let problem): problem.advice
        case .overrideHeld:
            "type 'timedatectl set-ntp true' to have the clock synchronised, or 'killswitchctl release "
                + "SERVICE' to end the order"
        case .invalidAnswer, .degraded, .versionUnknown, .valueInvalid, .lenient, .overrideEnds,
            .drillFailed:
            nil
        }
    }

    /// What is wrong, as a clause about the service.
    var text: String {
        switch self {
        case .invalidAnswer(let source, let problem, let hasFlags):
            "the last answer of source '\(source)' is invalid: \(problem); "
                + LogMessage.rest(hasFlags: hasFlags)
        case .degraded(let reason): reason.sentence
        case .versionUnknown(let source, let minimum):
            "source '\(source)' requires version \(quoted(minimum.text)), but the installed version "
                + "is unknown; the requirement is ignored"
        case .valueInvalid(let name, let source, let problem):
            "the value '\(name)' of source '\(source)' cannot be read: \(problem); it keeps its last "
                + "value"
        case .lenient(let source, let clause): "source '\(source)': \(clause)"
        case .overrideEnds(let override, let end):
            "the order of \(quoted(override.author)) (\(override.state.rawValue)) ends at \(end); "
                + "then the flags decide"
        case .overrideHeld(let override, let end):
            "the order of \(quoted(override.author)) (\(override.state.rawValue)) was to end at \(end); it stays in "
                + "force, because nothing confirms the clock of this host"
        case .drillFailed(let drill): "its last drill has failed: \(drill.problem ?? "")"
        case .zone(let problem): problem.text
        }
    }

    /// Whether it is the same problem as `other`, perhaps in other words.
    fileprivate func isSameMatter(as other: Self) -> Bool {
        switch (self, other) {
        case (.invalidAnswer(let own, _, _), .invalidAnswer(let others, _, _)): own == others
        case (.degraded(let own), .degraded(let others)): own.slug == others.slug
        case (.versionUnknown(let own, _), .versionUnknown(let others, _)): own == others
        case (.valueInvalid(let own, _, _), .valueInvalid(let others, _, _)): own == others
        case (.lenient, .lenient): self == other
        case (.overrideEnds(let own, _), .overrideEnds(let others, _)): own == others
        case (.overrideHeld(let own, _), .overrideHeld(let others, _)): own == others
        case (.drillFailed(let own), .drillFailed(let others)): own == others
        case (.zone, .zone): true
        case (.invalidAnswer, _), (.degraded, _), (.versionUnknown, _), (.valueInvalid, _),
            (.lenient, _), (.overrideEnds, _), (.overrideHeld, _), (.drillFailed, _), (.zone, _):
            false
        }
    }
}

extension Reason.Slug {
    /// The kind of problem that a verdict with this reason has; nil if it is none.
    package var problemKind: Problem.Kind? {
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
    /// as that of a drill, ends as everybody expects.
    var noticeAt: Instant? {
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
    func presentProblems(in circumstances: Circumstances) -> [ServiceProblem.Cause] {
        var causes: [ServiceProblem.Cause] = []
        if let reason = record?.verdict.reason, let cause = ServiceProblem.Cause(reason) {
            causes.append(cause)
        }
        for position in switches.indices {
            if let problem = switches[position].problem, !problem.isOfSource {
                causes.append(
                    .invalidAnswer(
                        service.switches[position].source, problem,
                        hasFlags: switches[position].reading != nil))
            }
            guard installed == nil else { continue }
            for case .minimumVersion(let minimum) in switches[position].reading?.claims ?? [] {
                causes.append(.versionUnknown(service.switches[position].source, minimum))
            }
        }
        if let problem = service.zoneProblem { causes.append(.zone(problem)) }
        if let drill = entry?.drill?.result, !drill.isGood { causes.append(.drillFailed(drill)) }
        values.forEachProblem(of: service) { causes.append(.valueInvalid($0, $1, $2)) }
        if let override = circumstances.overrideInForce, let notice = override.noticeAt,
            notice <= circumstances.time
        {
            let end = service.zone.zoned(override.until)
            let isHeld = override.until <= circumstances.time
            causes.append(
                isHeld ? .overrideHeld(override, at: end) : .overrideEnds(override, at: end))
        }
        for (position, plan) in service.switches.enumerated() {
            for clause in switches[position].reading?.leniencies.prefix(Self.mostLeniencies) ?? [] {
                causes.append(.lenient(plan.source, clause))
            }
        }
        return causes
    }

    var isTroubled: Bool { !problems.isEmpty }
}

extension Circumstances {
    /// The time until people are told that the override ends; nil without one, and afterwards.
    var timeUntilOverrideNotice: Duration? {
        guard let notice = overrideInForce?.noticeAt, time < notice else { return nil }
        return notice - time
    }
}
