import ArgumentParser
import ControlSocket
import Decision
import EventLoop
import Glibc
import JSON
import Storage

/// A method of the control socket without its interface, and the parameters of a call.
typealias OrderCall = (method: String, parameters: JSON.Object)

/// A command that calls methods of the daemon, and prints the results.
protocol DaemonOrder: ParsableCommand {
    var options: OrderOptions { get }
    /// Whether and how long to follow the gates until they are as decided; nil for an order that moves none.
    var gateWait: GateWaitOptions? { get }
    /// Whether the results are a list in JSON: the order may be for several services.
    var hasList: Bool { get }
    /// The calls, one for each service that is concerned.
    func calls() throws -> [OrderCall]

    /// The lines for people: the effects of a call and their consequences.
    func lines(_ reply: OrderReply) -> [String]
    /// Whether the reply says that something failed: the command prints it, and exits with 1.
    func hasFailed(_ reply: OrderReply) -> Bool
    /// Adds what a person should know after the order.
    func finish(_ replies: [OrderReply], in published: PublishedFiles)
}

/// An order that moves gates.
protocol GateOrder: DaemonOrder {
    var waiting: GateWaitOptions { get }
}

extension GateOrder {
    var gateWait: GateWaitOptions? { waiting }
}

/// An order that is one call.
protocol OrderCommand: DaemonOrder {
    var call: OrderCall { get }
}

extension OrderCommand {
    func calls() throws -> [OrderCall] { [call] }
}

/// The options of every order.
struct OrderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON, also an error.") var json = false
}

/// The services of an order: their names, or every one.
struct OrderedServices: ParsableArguments {
    @Flag(name: .customLong("all"), help: "Every service.") var isAll = false

    @Argument(
        help: ArgumentHelp("The services.", valueName: "service"), completion: .services,
        transform: ServiceName.read)
    var named: [ServiceName] = []

    var isList: Bool { isAll || named.count > 1 }

    func validate() throws {
        guard isAll == named.isEmpty else {
            throw ValidationError("name the services, or give --all")
        }
    }
}

/// The options of orders that move gates.
struct GateWaitOptions: ParsableArguments {
    @Flag(
        name: .customLong("wait"), inversion: .prefixedNo,
        help: """
            Wait for the effect of this order: until every attached unit has stopped or started. The default at \
            a terminal. Exits with 1 if a unit passes its limit, the gate cannot be moved, or another order \
            takes over.
            """)
    var isWanted: Bool?

    @Option(
        help: ArgumentHelp(
            "The longest wait, such as 5m; after it the exit status is 124, and the order stays.",
            valueName: "duration"),
        transform: DurationArgument.read)
    var timeout: DurationArgument?

    /// Whether neither option is given.
    var areUnused: Bool { isWanted == nil && timeout == nil }

    /// Whether somebody has asked to wait, and not only looks on.
    fileprivate var isAsked: Bool { isWanted == true || timeout != nil }

    /// Whether to wait: a person at a terminal wants to see the effect.
    fileprivate func waits(json: Bool) -> Bool {
        isWanted ?? (timeout != nil || Terminal.isShown && !json)
    }
}

extension VarlinkClient {
    /// Calls a method that acts, with proof of who acts: the file of the login uid, and `SUDO_USER` as a claim.
    func order(_ call: OrderCall) throws -> JSON.Object {
        let login = unsafe open(LoginUser.file, O_RDONLY | O_CLOEXEC)
        defer { if login >= 0 { close(login) } }
        let file = login >= 0 ? login : nil
        var parameters = call.parameters
        if let user = environmentVariable("SUDO_USER"), !user.isEmpty {
            parameters[Method.sudoUser] = .string(user)
        }
        do {
            return try self.call(call.method, parameters, passing: file)
        } catch let error as MethodError where error == .invalidParameter(Method.sudoUser) {
            // The name may be none: the order must not fail for that.
            return try self.call(call.method, call.parameters, passing: file)
        }
    }
}

extension DaemonOrder {
    mutating func run() throws { try carryOut() }

    /// Makes all calls and prints the replies. The exit status is that of the first failure.
    func carryOut() throws {
        let published = try PublishedFiles(options.common)
        let daemon = published.daemon()
        var replies: [OrderReply] = []
        var failure: CommandFailure?
        let calls = try calls()
        let watcher =
            try gateWait?.waits(json: options.json) == true
            ? watcher(before: calls, in: published) : nil
        for call in calls {
            do {
                let reply = OrderReply(object: try daemon.order(call), published: published)
                replies.append(reply)
                if !options.json { for line in lines(reply) { printLine(line) } }
            } catch {
                let problem = CommandFailure(error)
                let isSilent = (error as? SocketError)?.isSilent == true
                let warning = isSilent ? "; it may still carry out the order when it goes on" : ""
                printError(problem.message + warning)
                failure = failure ?? CommandFailure(problem.status)
                // Each other call would wait as long.
                if isSilent { break }
                guard let refusal = error as? MethodError else { continue }
                let json: JSON.Object = [
                    "error": .string(refusal.name), "parameters": .object(refusal.parameters),
                ]
                replies.append(OrderReply(object: json, published: published))
            }
        }
        finish(replies, in: published)
        if let watcher {
            try flushOutput()
            let answers = awaitedAnswers(of: replies)
            let problems = try watcher.run(after: answers, within: gateWait?.timeout?.duration)
            for index in replies.indices { replies[index].renewGate() }
            for problem in problems { printError(problem) }
            if !problems.isEmpty { failure = failure ?? CommandFailure(.no) }
        }
        if replies.contains(where: hasFailed) { failure = failure ?? CommandFailure(.no) }
        if options.json, hasList {
            printJSON(.objects(replies.map(\.object)))
        } else if options.json, let reply = replies.first {
            printJSON(.object(reply.object))
        }
        if let failure { throw failure }
    }

    var hasList: Bool { false }

    func hasFailed(_ reply: OrderReply) -> Bool { false }

    func finish(_ replies: [OrderReply], in published: PublishedFiles) {}

    var gateWait: GateWaitOptions? { nil }

    /// The answers whose effect is awaited. Who has not asked for it is not told of gates that nobody moves.
    private func awaitedAnswers(of replies: [OrderReply]) -> [ServiceName: JSON.Object] {
        let isAsked = gateWait?.isAsked ?? false
        let answers = replies.flatMap { reply in
            reply.answers.filter { isAsked || reply.gate(of: $0.1).whyUnmoved == nil }
        }
        return Dictionary(answers) { first, _ in first }
    }

    private func watcher(
        before calls: [OrderCall], in published: PublishedFiles
    ) throws -> GateWatcher {
        let named = calls.map { $0.parameters["service"]?.string.flatMap { ServiceName($0) } }
        let all = try named.contains(nil) ? published.servicesIfAny() : []
        return try GateWatcher(
            before: named.compactMap(\.self) + all, in: published, isVerbose: !options.json)
    }

    /// These services, or every one. Throws if one of several does not exist, before the first call.
    func known(_ named: [ServiceName]) throws -> [ServiceName] {
        if named.count == 1 { return named }
        let published = try PublishedFiles(options.common)
        try published.requireDaemon()
        let known = try published.configured().sorted()
        for name in named where !known.contains(name) {
            throw MethodError.noSuchService(name.text, known: known)
        }
        return named.isEmpty ? known : named
    }
}

/// The daemon's reply to an order, and the gates of the services in it.
struct OrderReply {
    fileprivate(set) var object: JSON.Object
    let published: PublishedFiles

    /// The services that the order concerns, with their states when the daemon answered.
    var answers: [(ServiceName, JSON.Object)] {
        states.compactMap { state in ServiceName(state.text("service")).map { ($0, state) } }
    }

    private var states: [JSON.Object] {
        (object["service"]?.object).map { [$0] } ?? object.objects("services")
    }

    /// The gate of a service in the reply: the reply's own, or that of the file.
    func gate(of state: JSON.Object) -> ShownGate {
        let own = object["gate"]?.object.flatMap(PublishedGate.init)
        let file = ServiceName(state.text("service")).flatMap(published.gate)
        return ShownGate(
            decided: state["gate"]?.string.flatMap(Gate.init), published: own ?? file,
            now: EventLoop.wallClock)
    }

    /// Puts what the gate is now in the place of what it was when the daemon answered.
    fileprivate mutating func renewGate() {
        guard object["gate"] != nil, let service = answers.first?.0,
            let gate = published.gate(of: service)
        else { return }
        object["gate"] = .object(gate.object)
    }

    /// A line for each service: its state, its gate and the reason. The problem of a gate has one more.
    var serviceLines: [String] { states.flatMap(lines) }

    private func lines(_ state: JSON.Object) -> [String] {
        let gate = gate(of: state).words.map { ", its gate is \($0)" } ?? ""
        let wait = object["opensIn"]?.number?.int64.map { ", opens in \($0) s" } ?? ""
        let line =
            "\(state.text("service")): \(state.stateSummary)\(gate)\(wait): "
            + state.text("reason_text")
        return [line] + gateProblems(of: state)
    }

    /// The problem of the gate of a service, as a line; empty without a problem.
    func gateProblems(of state: JSON.Object) -> [String] {
        gate(of: state).problem.map { ["\(state.text("service")): \($0)"] } ?? []
    }

    /// Whether the gate of a service is stuck, or waits for the bus.
    var isHeldUp: Bool { states.contains { gate(of: $0).isHeldUp } }
}
