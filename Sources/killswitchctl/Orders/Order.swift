import ArgumentParser
import Control
import Decision
import Glibc
import JSON

/// A method of the control socket without its interface, and the parameters of a call.
typealias OrderCall = (method: String, parameters: JSON.Object)

/// A command that calls methods of the daemon, and prints the results.
protocol DaemonOrder: ParsableCommand {
    /// The options of every order.
    var options: OrderOptions { get }
    /// Whether the results are a list in JSON: the order may be for several services.
    var hasList: Bool { get }
    /// The calls of the daemon, one for each service that is concerned.
    func calls(of daemon: VarlinkClient) throws -> [OrderCall]

    /// The lines for people: the effects of a call and their consequences.
    func lines(_ reply: JSON.Object) -> [String]
    /// Whether the reply says that something failed: the command prints it, and exits with 1.
    func hasFailed(_ reply: JSON.Object) -> Bool
}

/// An order that is one call.
protocol OrderCommand: DaemonOrder {
    /// The call of the daemon.
    var call: OrderCall { get }
}

extension OrderCommand {
    func calls(of daemon: VarlinkClient) throws -> [OrderCall] { [call] }
}

/// The options of every order.
struct OrderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON, also an error.")
    var json = false
}

extension VarlinkClient {
    /// The configured services.
    func services() throws -> [ServiceName] {
        let sources = try call("Sources").objects("sources")
        return Set(sources.flatMap { $0.strings("services") }.compactMap { ServiceName($0) })
            .sorted()
    }

    /// Calls a method that acts, and shows the daemon who acts: the file with this process's login uid, and
    /// `SUDO_USER` as a claim.
    func order(_ call: OrderCall) throws -> JSON.Object {
        let login = unsafe open(LoginUser.file, O_RDONLY | O_CLOEXEC)
        defer { if login >= 0 { close(login) } }
        let file = login >= 0 ? login : nil
        guard let user = environmentVariable("SUDO_USER"), !user.isEmpty else {
            return try self.call(call.method, call.parameters, passing: file)
        }
        var parameters = call.parameters
        parameters[Method.sudoUser] = .string(user)
        do {
            return try self.call(call.method, parameters, passing: file)
        } catch let error as MethodError where error == .invalidParameter(Method.sudoUser) {
            // A daemon before an upgrade does not know it, or the name is none: the order must not fail for that.
            return try self.call(call.method, call.parameters, passing: file)
        }
    }
}

extension DaemonOrder {
    /// Calls the methods and prints the replies. If one of several calls fails, the others are made, and the
    /// exit status is that of the first failure.
    func run() throws {
        let daemon = try PublishedFiles(options.common).daemon()
        let calls = try calls(of: daemon)
        var replies: [JSON.Object] = []
        var failure: CommandFailure?
        for call in calls {
            do {
                let reply = try daemon.order(call)
                replies.append(reply)
                if hasFailed(reply) { failure = failure ?? CommandFailure(.no) }
                if !options.json { for line in lines(reply) { say(line) } }
            } catch {
                let problem = CommandFailure(error)
                printError(problem.message)
                failure = failure ?? CommandFailure(problem.status)
                if let refusal = error as? MethodError { replies.append(refusal.json) }
            }
        }
        if options.json, hasList {
            say(.array(replies.map { .object($0) }))
        } else if options.json, let reply = replies.first {
            say(.object(reply))
        }
        if let failure { throw failure }
    }

    var hasList: Bool { false }

    /// No reply is a failure.
    func hasFailed(_ reply: JSON.Object) -> Bool { false }

    /// These services, or every one. Throws if one of several does not exist, before the first call.
    func services(_ named: [ServiceName], of daemon: VarlinkClient) throws -> [ServiceName] {
        if named.count == 1 { return named }
        let known = try daemon.services()
        for name in named where !known.contains(name) {
            throw MethodError.noSuchService(name.text, known: known)
        }
        return named.isEmpty ? known : named
    }
}

extension MethodError {
    /// The error in the output of `--json`, in place of a reply.
    fileprivate var json: JSON.Object {
        ["error": .string(name), "parameters": .object(parameters)]
    }
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
