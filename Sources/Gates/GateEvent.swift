package import CivilTime
package import Decision

/// An event of the gates' machine. All that the machine knows of systemd comes by events.
package enum GateEvent: Hashable, Sendable {
    case started
    /// A service was decided, or is gone; undecided services have no event.
    /// `drainsUntil`: when the units of a closed gate stop that may run on; nil for at once.
    case decided(ServiceName, DesiredGate, drainsUntil: Boottime? = nil)
    /// The gate is decided open, and its files cannot be written yet: `decided` follows when they are.
    case openingDelayed(ServiceName)
    case withdrawn(ServiceName)
    /// There is news of a service, and its files are written: the units that pass it on start.
    case announced(ServiceName, Hook)
    /// The bus is there, and these targets of ours are loaded; all others are not active.
    case targetsListed([UnitName: UnitStatus])
    case unitsListed([UnitName: UnitStatus])
    /// The bus is gone, or does not answer.
    case busLost(problem: String)
    /// systemd has read its units again, or has started anew.
    case systemdReloaded
    /// A signal about a unit that is followed.
    case unitChanged(UnitName, UnitStatus)
    /// The properties of a unit; nil if systemd did not give them.
    case unitRead(UnitName, UnitSnapshot?)
    /// The processes of a unit that is down; nil if systemd did not tell.
    case processesCounted(UnitName, UnitProcesses?)
    /// The mover has looked at the files: systemd has taken a move as the job of this number, or before, or refuses it.
    case jobAnswered(TargetJob, problem: GateObstacle?, number: UInt32 = 0)
    /// The start of a unit by the job of this number has failed by an assertion, such as `AssertPathExists=`, or
    /// because a unit is down that it depends on: a gate may have refused it.
    case startFailed(UnitName, job: UInt32, isByAssertion: Bool)
    /// The socket of the bus was made, or systemd has come to the bus: a connection may succeed now.
    case busAppeared
    /// What the last run of the unit that attaches units has left: the units that the gates hold.
    case attachmentsRead(AttachmentOutcome)
    /// A configuration takes force that lists these units.
    case unitsListedByConfiguration([ServiceName: [ConfiguredUnit]])
    /// The mover has had systemd start the unit that attaches them, or systemd refuses it.
    case attachAnswered(problem: GateObstacle?)
    case attachEnded(AttachmentOutcome)
    /// Whether the system is on its way down.
    case systemStateRead(isStopping: Bool)
    /// `targets`, `units.json` or `gate.json` of a service could not be written.
    case writeFailed(ServiceName, problem: String)
    /// Somebody has deleted files of a service.
    case filesDeleted(ServiceName)
    /// The time that `GateEffect.sleep` asked for has come.
    case woke
}

/// A job of systemd for a target, queued by one call.
package enum TargetJob: Hashable, Sendable {
    case start(GateTarget)
    case stop(GateTarget)

    package var target: GateTarget {
        switch self {
        case .start(let target), .stop(let target): target
        }
    }

    /// Whether it starts the target of a state or a variant, and another job opens or closes the gate.
    package var isStartOfState: Bool { isStart && !target.isMain && !target.startsClosed }

    /// Whether systemd does `other` with this job.
    func brings(_ other: TargetJob) -> Bool {
        isStart && other.isStart && target.starts(other.target)
    }

    package var isStart: Bool { if case .start = self { true } else { false } }
}
