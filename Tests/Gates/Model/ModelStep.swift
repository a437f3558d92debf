import CivilTime
import Decision
import Gates

/// A step of a model host. The usual steps come in the order in which a world without disturbances takes them.
enum ModelStep: Hashable {
    // What a quiet world does by itself.
    case answer
    case run(ModelSystemd.Unit)
    case signal(ModelSystemd.Unit)
    case systemdPermits
    case wake
    // What people and faults do.
    case decide(Gate)
    case decideToDrain
    case disturb(Disturbance)

    enum Disturbance: Hashable {
        case systemdRefuses
        case answerSpoilt
        case busLost
        case systemdReloaded
        /// Time passes before the world has done its part.
        case slowness
        case unitFails
        case unitKilled
        case jobCancelled(ModelSystemd.Unit)
        case unitStarted
        case unitStopped
        case unitSmuggled
        case targetStarted(ModelSystemd.Unit)
        case targetStopped(ModelSystemd.Unit)
        case writeFailed
        case filesDeleted
    }
}

extension ModelHost {
    /// The steps of a quiet world. The first of them is the one that it takes if nothing is in its way.
    var usualSteps: [ModelStep] {
        var steps: [ModelStep] = []
        if !calls.isEmpty { steps.append(.answer) }
        steps += systemd.runnable.map(ModelStep.run)
        if let unit = systemd.unsignalled.first { steps.append(.signal(unit)) }
        if isRefusing { steps.append(.systemdPermits) }
        if steps.isEmpty, isWakeNear { steps.append(.wake) }
        return steps
    }

    /// The decisions and disturbances that the budget still allows.
    var unusualSteps: [ModelStep] {
        var steps: [ModelStep] = []
        if decisionsLeft > 0 {
            steps += [Gate.open, .closed].filter { $0 != decision?.gate }.map(ModelStep.decide)
            if decision?.gate == .open { steps.append(.decideToDrain) }
        }
        return disturbancesLeft > 0 ? steps + disturbances.map(ModelStep.disturb) : steps
    }

    private var disturbances: [ModelStep.Disturbance] {
        var all: [ModelStep.Disturbance] = [
            .busLost, .systemdReloaded, .unitStarted, .filesDeleted, .writeFailed,
        ]
        if !isRefusing { all.append(.systemdRefuses) }
        if !calls.isEmpty { all.append(.answerSpoilt) }
        if isWakeNear { all.append(.slowness) }
        let web = systemd[.web]
        if web.active == .activating || web.active == .active { all += [.unitFails, .unitStopped] }
        if web.active == .deactivating { all.append(.unitKilled) }
        if !systemd.isUp(.web), !systemd.isUp(.open) { all.append(.unitSmuggled) }
        for unit in ModelSystemd.Unit.allCases {
            if systemd[unit].hasJob { all.append(.jobCancelled(unit)) }
            guard unit != .web, unit != .maintenance || closing.state == .maintenance else {
                continue
            }
            all.append(systemd.isUp(unit) ? .targetStopped(unit) : .targetStarted(unit))
        }
        return all
    }

    /// The host after a step.
    func after(_ step: ModelStep) -> ModelHost {
        var next = self
        switch step {
        case .answer: next.answer()
        case .run(let unit): next.systemd.run(unit)
        case .signal(let unit): next.signal(unit)
        case .systemdPermits: next.isRefusing = false
        case .wake: next.wake()
        case .decide(.open): next.decide(.running)
        case .decide(.closed): next.decide(closing)
        case .decideToDrain: next.decide(closing, drain: .seconds(20))
        case .disturb(let disturbance):
            next.disturbancesLeft -= 1
            next.disturb(disturbance)
        }
        next.checkReport()
        return next
    }

    private mutating func disturb(_ disturbance: ModelStep.Disturbance) {
        switch disturbance {
        case .systemdRefuses: isRefusing = true
        case .answerSpoilt: spoilAnswer()
        case .busLost: loseBus()
        case .systemdReloaded: handle(.systemdReloaded)
        case .slowness: wake()
        case .unitFails: systemd.failUnit()
        case .unitKilled: systemd.killUnit()
        case .jobCancelled(let unit): systemd.cancel(unit)
        case .unitStarted: systemd.startUnit()
        case .unitStopped: systemd.stopUnit()
        case .unitSmuggled:
            isSmuggled = true
            systemd.smuggleUnit()
        case .targetStarted(let unit):
            // Before its first decision the machine cannot tell an opening by hand from that of an earlier daemon.
            if decision == nil { systemd.spoil() }
            systemd.start(unit)
        case .targetStopped(let unit): systemd.stop(unit)
        case .writeFailed: handle(.writeFailed(Self.shop, problem: "no space left on device"))
        case .filesDeleted: handle(.filesDeleted(Self.shop))
        }
    }
}
