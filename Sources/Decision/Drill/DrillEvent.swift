package import CivilTime

/// An event of a drill. Each effect but `tell` and `finish` has one event in return.
package enum DrillEvent: Hashable, Sendable {
    /// The first event.
    case started
    /// The daemon has taken the order that closes the gate.
    case ordered
    /// How the service stands, by the daemon's file.
    case standing(DrillStanding)
    /// The daemon's file is not there, out of date, or cannot be read.
    case standingUnknown(problem: String)
    /// The gate cannot be moved, for this reason. The service itself stands like this.
    case gateStuck(problem: String, DrillStanding)
    /// The status of the units and targets of the drill; a unit that is missing is not loaded.
    case listed([UnitName: UnitStatus])
    /// Units were read, all of them if `problem` is nil.
    case read([UnitName: UnitSnapshot], problem: String?)
    /// The result of a start by hand.
    case tried(ManualStart)
    /// The problems of units by `units.json`.
    case unitProblems([UnitName: String], problem: String?)
    /// The order has ended, and the service stands like this now.
    case released(DrillStanding)
    /// The daemon does not answer, so that the order could not be ended.
    case daemonUnreachable
    /// The time that `wait` asked for is over, or a signal has come.
    case woke
    /// A signal ends the drill. A second signal ends it without any further wait.
    case interrupted
    /// An effect could not be performed.
    case failed(String)
}

/// The result of a start by hand.
package enum ManualStart: Hashable, Sendable {
    case refused
    case accepted
    /// The job ended with this word, which is neither.
    case unclear(String)
}

/// An action of a drill. Effects are performed in their order.
package enum DrillEffect: Hashable, Sendable {
    /// Give the order that closes the gate: `ordered` follows.
    case order
    /// Read the daemon's file about the service: `standing` or `standingUnknown` follows.
    case readStanding
    /// List the units and targets of the drill: `listed` or `failed` follows.
    case list
    /// Read these units one after the other until one fails: `read` follows.
    case read([UnitName])
    /// Start a unit by hand, and wait for its job so long at most: `tried` or `failed` follows.
    case tryStart(UnitName, within: Duration)
    /// Read `units.json`: `unitProblems` follows.
    case readUnitProblems
    /// End the order: `released`, `daemonUnreachable` or `failed` follows.
    case release
    /// Let this time pass, less if a signal comes: `woke` or `failed` follows.
    case wait(Duration)
    /// Tell how far the drill is, for people and logs.
    case tell(String)
    /// The drill is over.
    case finish(DrillFindings)
}

/// The moment of an event on both clocks: drills are timed by the first, and systemd's time stamps
/// are of the second.
package struct DrillTime: Hashable, Sendable {
    /// By `CLOCK_BOOTTIME`.
    package let boot: Boottime
    /// By `CLOCK_MONOTONIC`.
    package let uptime: Uptime

    /// A moment by both clocks.
    package init(boot: Boottime, uptime: Uptime) {
        self.boot = boot
        self.uptime = uptime
    }
}

/// How a service stands, as far as a drill is concerned.
package enum DrillStanding: Hashable, Sendable {
    /// The drill's order is in force.
    case ordered
    case open
    /// It opens as soon as `min_closed` is over.
    case kept
    /// Another order is in force; its author, its state and its reason.
    case forced(String)
    /// Its flags close it, for this reason.
    case closed(String)

    /// Whether the drill can no longer open the gate.
    var isTakenAway: Bool {
        switch self {
        case .ordered, .open, .kept: false
        case .forced, .closed: true
        }
    }

    /// The problem for a drill that expected its own order in force.
    var problem: String {
        switch self {
        case .ordered: "the drill's order is still in force"
        case .open, .kept: "somebody has ended the drill's order before its time"
        case .forced(let words): "another order has taken over: \(words)"
        case .closed(let cause): "its flags closed the gate during the drill: \(cause)"
        }
    }
}
