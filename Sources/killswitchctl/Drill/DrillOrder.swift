import CivilTime
import Control
import Decision
import Glibc
import JSON

/// The override that closes the gate for a drill, at the daemon. It ends by itself, even if this
/// process is killed.
struct DrillOrder {
    let service: ServiceName
    let state: State
    let limit: Duration
    /// The reason that `status` shows. It has the process ID, which no other running process has,
    /// so that the release ends only this order.
    let reason = "drill by killswitchctl, process \(getpid())"
    private let socket: DaemonSocket

    /// An order that is not given yet.
    init(
        of service: ServiceName, to state: State, for limit: Duration, at socket: DaemonSocket
    ) {
        self.service = service
        self.state = state
        self.limit = limit
        self.socket = socket
    }

    /// Throws if no daemon runs.
    func checkThatDaemonAnswers() throws(CommandFailure) {
        _ = try socket.call("Sources")
    }

    /// Closes the gate, if it is open and no other order is in force.
    func give() throws(CommandFailure) {
        let parameters: JSON.Object = [
            "service": .string(service.text), "state": .string(state.rawValue),
            "reason": .string(reason), "seconds": .number(Number(limit.wholeSeconds)),
            "ifOpen": true,
        ]
        switch try answer("Force", parameters) {
        case .success: return
        case .failure(.invalidParameter("state")):
            throw CommandFailure(
                .no, "\(state.rawValue) does not close '\(service)': its gate stays open then")
        case .failure(let error): throw CommandFailure(error)
        }
    }

    /// Ends the order, if it is in force still, and returns the state of the service after that.
    func release() throws(CommandFailure) -> DrillStanding {
        let answer = try socket.call(
            "Release", ["service": .string(service.text), "reason": .string(reason)])
        return standing(in: answer["service"]?.object ?? JSON.Object())
    }

    /// Without an answer it is not known whether the daemon took the order.
    private func answer(
        _ method: String, _ parameters: JSON.Object
    ) throws(CommandFailure) -> Result<JSON.Object, MethodError> {
        do {
            return try socket.ask(method, parameters)
        } catch {
            do { _ = try release() } catch {}
            throw CommandFailure(
                error.status,
                "\(error.message ?? "the daemon does not answer")\nif it has closed the gate all "
                    + "the same, it opens again after \(limit.wholeSeconds) s")
        }
    }
}

extension DrillOrder {
    /// The state of the service, by the members of its `state.json`.
    func standing(in state: JSON.Object) -> DrillStanding {
        if let override = state["override"]?.object {
            let text = { (key: String) in (override[key]?.string ?? "").printable }
            if override["reason"]?.string == reason { return .ordered }
            return .forced("\(text("author")) has forced \(text("state")): \(text("reason"))")
        }
        if state["gate"]?.string == Gate.open.rawValue { return .open }
        if state["reason"]?.string == Reason.Slug.minClosed.rawValue { return .kept }
        return .closed((state["reason_text"]?.string ?? "").printable)
    }
}
