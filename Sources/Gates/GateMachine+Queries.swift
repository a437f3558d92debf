package import CivilTime
package import Decision

/// What others may ask of the gates.
extension GateMachine {
    package var overview: GateOverview { summary.overview }

    /// What the gate of a service is in fact, and its problems; nil while that is not known.
    package func report(of service: ServiceName, at now: Boottime) -> GateStatus? {
        gates[service]?.report(context(now))
    }

    /// Whether units are attached to a service.
    package func isTied(_ service: ServiceName) -> Bool {
        gates[service].map { !$0.attached.isEmpty } ?? false
    }

    /// Whether units are attached to a service that is not configured.
    package func isOrphan(_ service: ServiceName) -> Bool {
        gates[service].map { !$0.orphans.isEmpty } ?? false
    }

    /// The listed units of a service that are not attached, with the reason.
    func missing(of service: ServiceName, at now: Boottime) -> [UnitName: UnitProblem] {
        gates[service].map { listed.missing(of: $0, link, at: now) } ?? [:]
    }

    /// The result of attaching the units of the last configuration; nil while it may still come.
    package func attachmentOutcome(at now: Boottime) -> AttachmentOutcome? {
        guard !listed.isUnderWay(link, at: now) else { return nil }
        var outcome = listed.outcome
        outcome.missing = summary.missing
        return outcome
    }

    /// Whether systemd has taken or refused what was asked last for a service, or has had its time.
    package func isAnswered(_ service: ServiceName) -> Bool { gates[service]?.isAnswered ?? true }

    /// A gate as metrics show it; nil while nothing is known of it.
    package func view(of service: ServiceName, at now: Boottime) -> GateView? {
        guard let gate = gates[service], let report = gate.files.report ?? gate.report(context(now))
        else { return nil }
        return GateView(
            report: report, moves: gate.moves, refusedStarts: gate.refusedStarts,
            units: gate.files.units)
    }

    func context(of unit: AttachedUnit) -> UnitContext {
        let gates = { (target: GateTarget) in self.gates[target.service] }
        return UnitContext(
            closedGate: link.mayMove
                ? unit.targets.first { gates($0)?.isClosedForGood($0) ?? false } : nil,
            isAsked: unit.targets.contains { gates($0)?.hasAskedForStops(of: $0) ?? false },
            isAwaited: unit.targets.contains { gates($0)?.awaitsReading(of: unit.name) ?? false },
            isDraining: unit.targets.contains { gates($0)?.drain != nil },
            blocker: blocker(of: unit))
    }

    func context(_ now: Boottime) -> GateContext {
        GateContext(units: units, listed: listed, link: link, now: now)
    }
}

/// The state outside of a gate that its decisions need, at one moment.
struct GateContext {
    let units: [UnitName: AttachedUnit]
    let listed: ListedUnits
    let link: SystemdLink
    let now: Boottime
}

/// How far the gates of a unit are, at one moment.
struct UnitContext {
    /// A closed gate of the unit with no job under way; nil if there is none yet.
    let closedGate: GateTarget?
    /// Whether systemd has been asked to stop the unit.
    let isAsked: Bool
    /// Whether a gate is moving, and the unit was not read since.
    let isAwaited: Bool
    /// Whether a gate drains, which refuses each start of the unit.
    let isDraining: Bool
    /// The unit whose stop a queued start of the unit waits for; nil if no start waits.
    let blocker: UnitName?
}

/// A gate as metrics show it.
package struct GateView: Hashable, Sendable {
    /// What the gate is in fact: as it was published last, so that metrics and `gate.json` agree.
    package let report: GateStatus
    /// How long its last opening and closing took: from the order until every unit was as wanted.
    package let moves: [Gate: Duration]
    /// How many starts of attached units it has refused since the start of the daemon.
    package let refusedStarts: Int
    /// Its attached units, as `units.json` has them.
    package let units: [UnitRow]
}
