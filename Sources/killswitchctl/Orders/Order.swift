import ArgumentParser
import CivilTime
import Control
import Decision
import EventLoop
import JSON
import Records

/// A method of the control socket without its interface, and the parameters of a call.
typealias OrderCall = (method: String, parameters: JSON.Object)

/// A command that calls one method of the daemon, and prints the result.
protocol OrderCommand: ParsableCommand {
    /// The options of every order.
    var options: OrderOptions { get }
    /// Whether to follow the gates until they are as decided.
    var waitsForGates: Bool { get }
    /// The call of the daemon.
    var call: OrderCall { get }

    /// The lines for people: the effects of the call and their consequences.
    func lines(_ reply: OrderReply) -> [String]
    /// Whether the reply says that something failed: the command prints it, and exits with 1.
    func hasFailed(_ reply: OrderReply) -> Bool
}

/// The options of every order.
struct OrderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false
}

/// The option of orders that move gates.
struct WaitingOptions: ParsableArguments {
    @Flag(
        name: .customLong("wait"),
        help: """
            Follow the gate until every attached unit is down or up. Exits with 1 if a unit passes \
            its limit or the gate cannot be moved.
            """) var isOn = false
}

extension OrderCommand {
    /// Calls the method and prints its reply.
    func run() throws {
        let published = try PublishedFiles(options.common)
        var reply = OrderReply(
            object: try published.daemon().call(call.method, call.parameters), published)
        if !options.json { for line in lines(reply) { say(line) } }
        var problems: [String] = []
        if waitsForGates {
            flushOutput()
            let following = try GateFollowing(
                reply.services, in: published, isTold: !options.json)
            problems = try following.run()
            reply.renewGate()
        }
        if options.json { say(.object(reply.object)) }
        if !problems.isEmpty {
            throw CommandFailure(.no, problems.joined(separator: "\nkillswitchctl: "))
        }
        if hasFailed(reply) { throw CommandFailure(.no) }
    }

    /// No reply is a failure.
    func hasFailed(_ reply: OrderReply) -> Bool { false }

    /// Most orders do not wait.
    var waitsForGates: Bool { false }
}

/// The daemon's reply to an order, and the gates of the services in it.
struct OrderReply {
    /// The whole reply.
    private(set) var object: JSON.Object
    private let published: PublishedFiles

    init(object: JSON.Object, _ published: PublishedFiles) {
        self.object = object
        self.published = published
    }

    /// The services that the order concerns.
    var services: [ServiceName] {
        states.compactMap { ServiceName($0.text("service")) }
    }

    private var states: [JSON.Object] {
        (object["service"]?.object).map { [$0] } ?? object.objects("services")
    }

    /// The gate of a service in the reply: the reply's own, or that of the file.
    func gate(of state: JSON.Object) -> ShownGate {
        let own = object["gate"]?.object.flatMap(PublishedGate.init)
        let file = ServiceName(state.text("service")).flatMap(published.gate)
        return ShownGate(
            state["gate"]?.string.flatMap(Gate.init), own ?? file, at: EventLoop.wallClock)
    }

    /// Puts what the gate is now in the place of what it was when the daemon answered.
    fileprivate mutating func renewGate() {
        guard object["gate"] != nil, let service = services.first,
            let gate = published.gate(of: service)
        else { return }
        object["gate"] = .object(gate.object)
    }

    /// The state in a few words, with the gate: `countdown, 12 days left, its gate is open`.
    func stateAndGate(_ state: JSON.Object) -> String {
        state.stateSummary + (gate(of: state).words.map { ", its gate is \($0)" } ?? "")
    }

    /// A line for each service: its state, its gate and the reason. The problem of a gate has one more.
    var serviceLines: [String] { states.flatMap(lines) }

    private func lines(_ state: JSON.Object) -> [String] {
        let line = "\(state.text("service")): \(stateAndGate(state)): \(state.text("reason_text"))"
        return [line] + gateProblems(of: state)
    }

    /// The problem of the gate of a service, as a line; empty without a problem.
    func gateProblems(of state: JSON.Object) -> [String] {
        gate(of: state).problem.map { ["\(state.text("service")): \($0)"] } ?? []
    }

    /// Whether the gate of a service is stuck.
    var isStuck: Bool { states.contains { gate(of: $0).isStuck } }
}
