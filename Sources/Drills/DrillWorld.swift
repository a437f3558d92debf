package import CivilTime
package import Decision
package import Gates

/// What a drill asks of systemd and of the daemon, and what it tells. Each call blocks until it is answered.
package protocol DrillWorld: AnyObject {
    /// The present moment by `CLOCK_BOOTTIME`, which times the drill.
    var now: Boottime { get }
    /// The same by `CLOCK_MONOTONIC`, which systemd's time stamps are of.
    var uptime: Uptime { get }
    /// When signals came that ask the drill to end. After the second one it waits for nothing.
    var signals: [Boottime] { get }
    /// Tells how far the drill is, for people and logs.
    func printLine(_ line: String)
    /// Gives the order that closes the gate. Throws if the daemon does not take it.
    func order() throws
    /// How the service stands, by the daemon's file.
    func orderStatus() -> DrillView
    /// The status of these units and targets; a unit that is missing is not loaded.
    func list(_ units: [UnitName]) throws(DrillProblem) -> [UnitName: UnitStatus]
    /// Reads these units one after the other, all of them if `problem` is nil.
    func read(_ units: [UnitName]) -> (units: [UnitName: UnitSnapshot], problem: String?)
    /// Starts a unit by hand, and waits for its job so long at most.
    func tryStart(_ unit: UnitName, within limit: Duration) throws(DrillProblem) -> ManualStart
    /// The problems of units by `units.json`.
    func unitProblems() -> (units: [UnitName: String], problem: String?)
    /// Ends the order, and returns how the service stands now; nil if the daemon does not answer.
    func release() throws(DrillProblem) -> OrderStatus?
    /// Lets this time pass, less if a signal comes.
    func wait(_ time: Duration) throws(DrillProblem)
}

/// Why a step of a drill could not be done.
package struct DrillProblem: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ text: String) { description = text }
}

/// What the daemon's file shows of a service.
package enum DrillView: Hashable, Sendable {
    case status(OrderStatus)
    /// The file is not there, out of date, or cannot be read.
    case unknown(problem: String)
    /// The gate cannot be moved, for this reason. The service itself stands like this.
    case stuck(problem: String, OrderStatus)
}

/// The result of a start by hand.
package enum ManualStart: Hashable, Sendable {
    case refused
    case accepted
    /// The job ended with this word, which is neither.
    case unclear(String)
}

/// How a service stands, as far as a drill is concerned.
package enum OrderStatus: Hashable, Sendable {
    case ordered
    case open
    /// It opens as soon as `min_closed` is over.
    case kept
    /// Another order is in force; its author, its state and its reason.
    case forced(String)
    /// Its flags close it, for this reason.
    case closed(String)

    /// Whether the drill can no longer open the gate.
    var isLost: Bool {
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
