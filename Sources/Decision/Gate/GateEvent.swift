/// What happened to gates. Everything the machine knows of systemd comes through here.
package enum GateEvent: Hashable, Sendable {
    /// The first event.
    case started
    /// A service was decided, or is gone; undecided ones are not told.
    case decided(ServiceName, Stand)
    case withdrawn(ServiceName)
    /// The bus is there, and these units of ours are loaded; all others are not active.
    case listed([UnitName: Seen])
    /// The bus is gone, or does not answer.
    case lost(problem: String)
    /// systemd has read its units again, or has started anew.
    case reloaded
    /// A signal about a unit that is followed.
    case seen(UnitName, Seen)
    /// A unit was asked for; nil where that failed.
    case read(UnitName, UnitFacts?)
    /// systemd has queued a move, or refused it.
    case answered(Move, problem: String?)
    /// Whether the system is on its way down.
    case systemState(isStopping: Bool)
    /// How the units of a service stand could not be written down.
    case unpublished(ServiceName, problem: String)
    /// The time that `GateEffect.sleep` asked for has come.
    case woke
}

/// One call: a job of systemd's for one of the targets.
package enum Move: Hashable, Sendable {
    case start(GateTarget)
    case stop(GateTarget)

    package var target: GateTarget {
        switch self {
        case .start(let target), .stop(let target): target
        }
    }

    /// Whether it starts its target.
    var isStart: Bool {
        switch self {
        case .start: true
        case .stop: false
        }
    }
}
