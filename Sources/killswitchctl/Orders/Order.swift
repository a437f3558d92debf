import ArgumentParser
import Decision
import JSON

/// A command that calls one method of the daemon, and prints the result.
protocol OrderCommand: ParsableCommand {
    /// The options of every order.
    var options: OrderOptions { get }
    /// The method of the control socket, without its interface.
    var method: String { get }

    /// The parameters of the call.
    func parameters() -> JSON.Object
    /// The lines for people: the effects of the call and their consequences.
    func lines(_ reply: JSON.Object) -> [String]
    /// Throws if the reply says that something failed. It is called after printing.
    func check(_ reply: JSON.Object) throws
}

/// The options of every order.
struct OrderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false
}

extension OrderCommand {
    /// Calls the method, prints its reply, and checks it.
    func run() throws {
        let reply = try DaemonSocket(options.common).call(method, parameters())
        if options.json {
            print(JSON.Value.object(reply).serialized(.pretty))
        } else {
            for line in lines(reply) { print(line) }
        }
        try check(reply)
    }

    /// Accepts every reply.
    func check(_ reply: JSON.Object) throws {}
}

extension JSON.Object {
    /// The strings of a member that is a list; empty without it.
    func strings(_ key: String) -> [String] {
        (self[key]?.array ?? []).compactMap(\.string)
    }

    /// The objects of a member that is a list; empty without it.
    func objects(_ key: String) -> [JSON.Object] {
        (self[key]?.array ?? []).compactMap(\.object)
    }

    /// The string of a member; empty without it.
    func text(_ key: String) -> String {
        self[key]?.string ?? ""
    }

    /// A line for each service of a reply.
    var serviceLines: [String] {
        objects("services").map { ServiceReply($0).line }
    }
}

/// A service in a reply of the daemon: the object of its `state.json`, in words.
struct ServiceReply {
    private let object: JSON.Object

    /// The service of this object; without an object its words are empty.
    init(_ object: JSON.Object?) {
        self.object = object ?? JSON.Object()
    }

    /// The service's name.
    var name: String { object.text("service") }

    /// When the override ends, in the service's zone.
    var forcedUntil: String { object["override"]?.object?.text("until") ?? "" }

    /// Who gave the override.
    var author: String { object["override"]?.object?.text("author") ?? "" }

    /// The state in a few words: `countdown, 12 days left, its gate is open`.
    var summary: String {
        var words = object.text("state")
        if let days = object["days_left"]?.number?.int64, words == State.countdown.rawValue {
            words += ", \(days) \(days == 1 ? "day" : "days") left"
        }
        guard let gate = object["gate"]?.string else { return words }
        return words + ", its gate is \(gate)"
    }

    /// The service, its state, and the reason.
    var line: String { "\(name): \(summary): \(object.text("reason_text"))" }
}
