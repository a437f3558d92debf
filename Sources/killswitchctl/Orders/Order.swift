import ArgumentParser
import Control
import Decision
import JSON

/// A method of the control socket without its interface, and the parameters of a call.
typealias OrderCall = (method: String, parameters: JSON.Object)

/// A command that calls one method of the daemon, and prints the result.
protocol OrderCommand: ParsableCommand {
    /// The options of every order.
    var options: OrderOptions { get }
    /// The call of the daemon.
    var call: OrderCall { get }

    /// The lines for people: the effects of the call and their consequences.
    func lines(_ reply: JSON.Object) -> [String]
    /// Whether the reply says that something failed: the command prints it, and exits with 1.
    func hasFailed(_ reply: JSON.Object) -> Bool
}

/// The options of every order.
struct OrderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false
}

extension OrderCommand {
    /// Calls the method and prints its reply.
    func run() throws {
        let daemon = try PublishedFiles(options.common).daemon()
        let reply = try daemon.call(call.method, call.parameters)
        if options.json {
            say(.object(reply))
        } else {
            for line in lines(reply) { say(line) }
        }
        if hasFailed(reply) { throw CommandFailure(.no) }
    }

    /// No reply is a failure.
    func hasFailed(_ reply: JSON.Object) -> Bool { false }
}

// A service in a reply of the daemon: the object of its `state.json`.
extension JSON.Object {
    /// The state in a few words, with the gate: `countdown, 12 days left, its gate is open`.
    var stateAndGate: String {
        stateSummary + (self["gate"]?.string.map { ", its gate is \($0)" } ?? "")
    }

    /// The service, its state, and the reason.
    var serviceLine: String { "\(text("service")): \(stateAndGate): \(text("reason_text"))" }

    /// A line for each service of a reply.
    var serviceLines: [String] { objects("services").map(\.serviceLine) }
}
