import CivilTime
import Decision

/// Whether people see the page of a service or the service itself, while its gate opens.
///
/// A web server must not send requests to a service that does not listen yet. So the page stays until each unit
/// that the gate starts is up. It does not stay for a unit that has failed: the others serve, and the failure is a
/// problem of its own. Nor does it stay for a unit that hangs: after the unit's start limit nobody waits for it.
extension GateState {
    /// The gate opens again, during its drain or after it was closed: has its units started if some are down. A start
    /// was refused to them meanwhile, and the targets may stand open already. Returns whether `startMove` has to
    /// follow.
    mutating func startAgain(_ context: GateContext) -> Bool {
        let areUp =
            context.link.isUp && targets.areAttachedKnown
            && attached.allSatisfy { context.units[$0]?.isAsWanted(by: service, .open) ?? true }
        if !areUp { targets.startAgain() }
        return !areUp
    }

    /// Whether people should see the page; nil while that is not known, and what they see stays.
    func isUnavailable(_ desired: DesiredGate, _ context: GateContext) -> Bool? {
        guard desired.gate == .open else { return true }
        guard targets.areAttachedKnown else {
            return context.link.isUp || !attached.isEmpty ? nil : false
        }
        let shown = files.report?.isUnavailable
        // A unit that another state or variant of an open gate starts does not close the service.
        let units = attached.compactMap { context.units[$0] }.filter { unit in
            unit.starters(of: service).contains { shown != false || $0.isMain }
        }
        // The gate of another service keeps it down.
        if units.contains(where: { !$0.isUp && $0.permission != .mayRun }) { return true }
        if targets.isGateMoved(from: desired) { return units.contains { !$0.isUp } }
        switch phase {
        case .moving(let move), .awaitingUnits(let move):
            return !move.isLate && units.contains { move.awaited.contains($0.name) }
        case .settled:
            // A daemon that has just been started has not read them yet.
            return shown != false && units.contains { $0.seen == nil } ? nil : false
        case .waiting, .deviating: return shown
        }
    }

    /// A daemon that was started during an opening finds the targets in their place, and units on their way up.
    mutating func resumeOpening(_ desired: DesiredGate, _ context: GateContext) {
        guard desired.gate == .open, targets.areAttachedKnown, files.report?.isUnavailable != false
        else { return }
        let starting = attached.compactMap { context.units[$0] }.filter { unit in
            !unit.starters(of: service).isEmpty && !unit.isUp && unit.seen?.isAtRest == false
        }
        guard !starting.isEmpty else { return }
        var move = GateMove(at: context.now, awaiting: Set(starting.map(\.name)))
        // They are known as they are now: a unit that somebody stops on its way up is not waited for.
        move.awaitReads(of: [], at: context.now)
        for unit in starting { move.unitRead(unit.name) }
        phase = .awaitingUnits(move)
    }

    /// Ends the wait for units that had their time to start, counted from the last progress.
    mutating func limitStart(_ context: GateContext, _ batch: inout GateBatch) {
        let units = (phase.move?.awaited ?? []).compactMap { context.units[$0] }
            .filter { !$0.starters(of: service).isEmpty && !$0.isUp }
        guard let limit = units.map(\.startLimit).max(),
            phase.move?.limitStart(to: limit, at: context.now) == true
        else { return }
        batch.log(.unitsSlow(service, units.map(\.name), after: limit))
    }
}
