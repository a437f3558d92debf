import CivilTime
import ControlSocket
import Decision
import Drills
import EventLoop
import Gates
import Glibc
import JSON
import POSIX
import Storage
import SystemdUnits

/// The world of a drill: asks systemd and the daemon, waits, and prints the progress.
final class DrillDriver: DrillWorld {
    private let plan: DrillPlan
    private let drillOrder: DrillOrder
    private var manager: BlockingSystemdClient
    private let loop: EventLoop
    private let published: PublishedFiles
    private var handlers: Signals?
    private(set) var signals: [Boottime] = []
    /// The signal that broke the drill off; nil if none did.
    private(set) var interruption: Int32?

    /// A drill that gives `order`, and follows it by systemd and the daemon's files.
    init(
        _ plan: DrillPlan, by order: DrillOrder, with manager: BlockingSystemdClient,
        on loop: EventLoop, _ published: PublishedFiles
    ) {
        self.plan = plan
        drillOrder = order
        self.manager = manager
        self.loop = loop
        self.published = published
    }

    /// Runs the drill to its end. Throws if the gate was not closed at all.
    func run() throws -> DrillFindings {
        StandardError.outliveReaders()
        handlers = try Signals(loop, [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] signal in
            interruption = interruption ?? signal.number
            signals.append(loop.now.boot)
        }
        for unit in plan.units { try manager.keep(unit.name) }
        var run = DrillRun(plan, limit: drillOrder.limit, in: self)
        return try run.run()
    }

    var now: Boottime { loop.now.boot }
    var uptime: Uptime { EventLoop.uptime }

    func printLine(_ line: String) { printError(line) }

    func order() throws { try drillOrder.send() }

    func orderStatus() -> DrillView {
        let unknown = DrillView.unknown(problem: published.isOutOfDate(drillOrder.service))
        do {
            guard let state = try published.state(of: drillOrder.service),
                published.isCurrent(state, at: loop.now.wall)
            else { return unknown }
            let gate = published.gate(of: drillOrder.service, beside: state.gate, at: loop.now.wall)
            let status = drillOrder.status(in: state.object)
            // No unit has failed behind a gate that does not move.
            if gate.isHeldUp, gate.published?.unitProblems.isEmpty ?? false {
                return .stuck(problem: gate.problem ?? "its gate is stuck", status)
            }
            return .status(status)
        } catch {
            return unknown
        }
    }

    func list(_ units: [UnitName]) throws(DrillProblem) -> [UnitName: UnitStatus] {
        try orProblem { try read { try $0.list(units) } }
    }

    func read(_ units: [UnitName]) -> (units: [UnitName: UnitSnapshot], problem: String?) {
        var snapshots: [UnitName: UnitSnapshot] = [:]
        do {
            for unit in units { snapshots[unit] = try read { try $0.snapshot(of: unit) } }
            return (snapshots, nil)
        } catch {
            return (snapshots, CommandFailure(error).message)
        }
    }

    func tryStart(_ unit: UnitName, within limit: Duration) throws(DrillProblem) -> ManualStart {
        try orProblem { try manager.tryStart(unit, within: limit) }
    }

    func unitProblems() -> (units: [UnitName: String], problem: String?) {
        var problems: [UnitName: String] = [:]
        do {
            for row in try published.units(of: drillOrder.service) {
                guard let name = UnitName(row.text("name")) else { continue }
                problems[name] = row["problem"]?.string?.printable
            }
            return (problems, nil)
        } catch {
            return (problems, CommandFailure(error).message)
        }
    }

    func release() throws(DrillProblem) -> OrderStatus? {
        try orProblem {
            do { return try drillOrder.release() } catch is SocketError { return nil }
        }
    }

    /// Lets time pass. A signal ends it.
    func wait(_ time: Duration) throws(DrillProblem) {
        let (deadline, known) = (loop.now.boot + time, signals.count)
        while loop.now.boot < deadline, signals.count == known {
            _ = try orProblem { try loop.runOnce(deadline - loop.now.boot) }
        }
    }

    private func orProblem<Value>(_ body: () throws -> Value) throws(DrillProblem) -> Value {
        do { return try body() } catch { throw DrillProblem(CommandFailure(error).message) }
    }

    /// Asks systemd. A lost connection, as by its upgrade, is made anew for a while, unless a signal has come.
    private func read<Answer>(_ question: (BlockingSystemdClient) throws -> Answer) throws -> Answer
    {
        let last = loop.now.boot + Self.systemdTimeLimit
        while true {
            do {
                return try question(manager)
            } catch let error as BlockingSystemdClient.Failure {
                guard !error.isDenied, loop.now.boot < last, interruption == nil else {
                    throw error
                }
            }
            try wait(.milliseconds(200))
            do {
                manager = try BlockingSystemdClient(on: loop)
                for unit in plan.units { try manager.keep(unit.name) }
            } catch {
                // If systemd is still unreachable, the next call fails too.
                continue
            }
        }
    }

    private static let systemdTimeLimit: Duration = .seconds(5)
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
    func sendResult(of findings: DrillFindings) {
        let result: JSON.Object = [
            "service": .string(service.text), "problem": .optional(findings.wholeProblem),
            "stopped": .strings(findings.stopped.map(\.text)),
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
