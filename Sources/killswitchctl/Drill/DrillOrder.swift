import CivilTime
import ControlSocket
import Decision
import Glibc
import JSON
import Storage

/// How a service stands, as far as a drill is concerned.
enum OrderStatus: Hashable {
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

/// The override that closes the gate for a drill. It ends by itself, even if this process is killed.
struct DrillOrder {
    let service: ServiceName
    let state: State
    let limit: Duration
    let daemon: VarlinkClient
    /// The reason that `status` shows. By its process ID the release ends only this order.
    private let reason = "drill by killswitchctl, process \(getpid())"

    /// Closes the gate, if it is open and no other order is in force.
    func send() throws {
        let parameters: JSON.Object = [
            "service": .string(service.text), "state": .string(state.rawValue),
            "reason": .string(reason), "seconds": .number(Number(limit.wholeSeconds)),
            "ifOpen": true, "now": true,
        ]
        do {
            _ = try daemon.order(("Force", parameters))
        } catch let error as MethodError where error == .invalidParameter("state") {
            throw CommandFailure(
                "state \(state.rawValue) leaves the gate of '\(service)' open; a drill needs a state "
                    + "that closes it")
        } catch let error as SocketError {
            // It is not known whether the daemon took the order.
            do { _ = try release() } catch {}
            let failure = CommandFailure(error)
            throw CommandFailure(
                failure.status,
                "\(failure.message)\nif it has closed the gate all the same, it opens again after "
                    + "\(limit.wholeSeconds) s")
        }
    }

    /// Ends the order, if it is in force still, and returns the state of the service after that.
    func release() throws -> OrderStatus {
        let order: JSON.Object = ["service": .string(service.text), "reason": .string(reason)]
        return status(in: try daemon.order(("Release", order)).object("service"))
    }

    /// Tells the daemon how the drill ended. If that fails, the drill counts nevertheless.
    func sendResult(of report: DrillReport) {
        let result: JSON.Object = [
            "service": .string(service.text), "problem": .optional(report.wholeProblem),
            "stopped": .strings(report.stopped.map(\.text)),
        ]
        do {
            _ = try daemon.order(("NoteDrill", result))
        } catch {
            printError("the daemon does not keep the result: \(CommandFailure(error).message)")
        }
    }

    /// The state of the service, by the members of its `state.json`.
    func status(in state: JSON.Object) -> OrderStatus {
        if let override = state["override"]?.object {
            let text = { (key: String) in override.text(key).printable }
            if override.text("reason") == reason { return .ordered }
            return .forced("\(text("author")) has forced \(text("state")): \(text("reason"))")
        }
        if state.text("gate") == Gate.open.rawValue { return .open }
        if state.text("reason") == Reason.Slug.minClosed.rawValue { return .kept }
        return .closed(state.text("reason_text").printable)
    }
}
