import CivilTime

/// What is known of a unit that is attached to at least one gate.
struct AttachedUnit: Hashable, Sendable {
    /// The targets it has `Requisite=` on.
    var holders: Set<GateTarget> = []
    /// Those of them that start it.
    var starters: Set<GateTarget> = []
    /// Nil until systemd has told.
    var seen: Seen?
    var result: String?
    var stopLimit: Duration?
    /// Until when it may take to stop.
    var stopBy: Boottime?
    /// What is wrong with it, as it was said.
    var problem: UnitProblem?
    /// How often it was found running behind a closed gate, and when it may be stopped again.
    var expulsions = 0
    var expelAt: Boottime?
    var took: Duration?

    /// systemd's own default where a unit has no limit, which a switch that fires cannot wait for.
    var limit: Duration { stopLimit ?? .seconds(90) }

    var isDown: Bool { seen?.active.isDown ?? true }
    /// Whether it is neither on its way up nor down.
    var isAtRest: Bool {
        guard let seen else { return true }
        switch seen.active {
        case .active, .inactive, .failed, .reloading, .maintenance: return !seen.hasJob
        case .activating, .deactivating: return false
        }
    }
}

/// What is wrong with an attached unit.
package enum UnitProblem: Hashable, Sendable {
    /// It is not down after this time.
    case late(limit: Duration)
    /// It is down because its stop limit was over.
    case killed
    /// It should run, and has failed with this result.
    case failed(result: String)
    /// It ran behind a closed gate, and is being stopped.
    case intruding

    package var sentence: String {
        switch self {
        case .late(let limit): "it has not stopped within its limit of \(limit.wholeSeconds) s"
        case .killed: "it did not stop by itself and was killed when its limit was over"
        case .failed(let result): "it has failed: \(result)"
        case .intruding: "it ran behind a closed gate, and is being stopped"
        }
    }
}

/// What a unit's gates want of it.
enum Judgement: Hashable, Sendable {
    case mayRun
    case mustStop
    /// Not all of its services are decided.
    case open
}
