import CivilTime

/// What is known of the gate of one service.
struct ServiceGate: Hashable, Sendable {
    /// How far the targets are from what was decided.
    enum Phase: Hashable, Sendable {
        /// Not compared yet: the bus is not there, or the system is stopping.
        case waiting
        /// Moves were asked for and are not confirmed.
        case moving(Transit)
        /// The targets stand as decided, not all units do.
        case following(Transit)
        /// Everything is as decided.
        case settled
        /// Somebody else has moved a target. If the system is stopping, that is as it should be.
        case suspect
    }

    /// Nil until the service is decided.
    var stand: Stand?
    var phase = Phase.waiting
    /// Until when the daemon's readiness waits for an answer of systemd; nil once there was one.
    var heardBy: Boottime?
    /// A refused move that is to be said once it is known that the system is not stopping.
    var alarm: Alarm?
    var isAlarmSaid = false
    /// How often in a row the gate was put back, and when last.
    var putBacks = 0
    var putBackAt: Boottime?
    /// The rows that were written, and when; others are written a moment later at the earliest.
    var published: [UnitRow]?
    var publishedAt: Boottime?
    var isPublishDue = false
    var isUnpublishedSaid = false

    struct Alarm: Hashable, Sendable {
        let move: Move
        let problem: String
    }

    /// The way that the targets and units are on.
    var transit: Transit? {
        switch phase {
        case .moving(let transit), .following(let transit): transit
        case .waiting, .settled, .suspect: nil
        }
    }

    /// Changes the transit, where there is one.
    mutating func updateTransit(_ change: (inout Transit) -> Void) {
        switch phase {
        case .moving(var transit):
            change(&transit)
            phase = .moving(transit)
        case .following(var transit):
            change(&transit)
            phase = .following(transit)
        case .waiting, .settled, .suspect:
            break
        }
    }
}

/// One move of a gate on its way.
struct Transit: Hashable, Sendable {
    let began: Boottime
    var attempts = 0
    /// When it is looked at again though nothing was heard.
    var retryAt: Boottime
    /// Whether it is tried again as soon as it is known that the system is not stopping.
    var isRetryDue = false
    /// Whether it began in the middle of another move: how a unit was seen last tells nothing then.
    var isMidway = false
    /// The units that are not yet as they should be.
    var awaited: Set<UnitName> = []
    /// Those that were asked for since the targets stand.
    var fresh: Set<UnitName> = []
    /// The targets whose lists are asked for.
    var unread: Set<GateTarget> = []
    var took: [UnitName: Duration] = [:]
}

/// What is known of one target.
struct TargetState: Hashable, Sendable {
    var seen = Seen(.inactive)
    /// How many calls for it are under way.
    var calls = 0
    var isRead = false
    var requisiteOf: Set<UnitName> = []
    var wants: Set<UnitName> = []
}
