import Control
import Decision
import JSON
import Records

/// The running daemon, asked over its control socket. What goes wrong is said with what to type next.
struct DaemonSocket {
    private let path: String
    private let patience: Duration?

    /// With a `patience` no answer takes longer; without one it takes as long as the daemon's work does.
    init(in directory: String, patience: Duration? = nil) {
        path = "\(directory)/\(FileName.controlSocket)"
        self.patience = patience
    }

    /// The daemon whose files the options lead to.
    init(_ options: CommonOptions) throws(CommandFailure) {
        self.init(in: try Published(options).directory)
    }

    /// Calls a method, and gives its answer.
    func call(
        _ method: String, _ parameters: JSON.Object = JSON.Object()
    ) throws(CommandFailure) -> JSON.Object {
        switch try ask(method, parameters) {
        case .success(let answer): return answer
        case .failure(let error): throw CommandFailure(error)
        }
    }

    /// Calls a method, and gives its answer or its error; throws where nobody answers.
    func ask(
        _ method: String, _ parameters: JSON.Object
    ) throws(CommandFailure) -> Result<JSON.Object, MethodError> {
        do {
            return try VarlinkClient(path, timeout: patience).call(method, parameters)
        } catch  where error.isNobodyThere {
            throw CommandFailure(
                .unreachable, "\(error); is killswitchd running? See 'systemctl status killswitchd'"
            )
        } catch {
            throw CommandFailure(.unreachable, "\(error)")
        }
    }
}

extension CommandFailure {
    /// What the daemon refuses, in words.
    init(_ error: MethodError) {
        let text = { (key: String) in error.parameters[key]?.string ?? "" }
        let known = error.parameters["known"]?.array?.compactMap(\.string) ?? []
        switch MethodError.Kind(rawValue: error.name) {
        case .noSuchService:
            self.init(.noSuchService, Self.unknown("service", text("service"), known))
        case .noSuchSource:
            self.init(.noSuchService, Self.unknown("source", text("source"), known))
        case .notPermitted:
            self.init(
                .notPermitted,
                "not permitted: only root and members of the group '\(text("group"))' may do that; "
                    + "type 'sudo' before the command, or as root 'adduser USER \(text("group"))'")
        case .notInTheFuture:
            self.init(.usage, "'\(text("until"))' is past already; give --for DURATION, such as 2h")
        case .configurationRefused:
            self.init(
                .configuration,
                "the configuration is refused, the one accepted last stays in force:\n"
                    + text("problems"))
        case .gateNotOpen:
            self.init(
                .no, "'\(text("service"))' is \(text("state")); only an open gate can be rehearsed")
        case .alreadyForced:
            let order = error.parameters["override"]?.object ?? JSON.Object()
            let word = { (key: String) in (order[key]?.string ?? "").printable }
            self.init(
                .no,
                "'\(text("service"))' is forced to be \(word("state")) by \(word("author")) until "
                    + "\(word("until")): \(word("reason")); "
                    + "'killswitchctl release \(text("service"))' ends that")
        case .closingHeld:
            self.init(
                .no,
                "'\(text("service"))' is held open against its flags by close_at_once; "
                    + "'killswitchctl confirm \(text("service"))' lets it close")
        case .gatesNotMoved:
            self.init(
                .no,
                "there is no gate to close: the running killswitchd was started without --gates")
        case nil:
            self.init(.no, Self.standard(error))
        }
    }

    private static func unknown(_ thing: String, _ name: String, _ known: [String]) -> String {
        let hint =
            known.isEmpty ? "no \(thing) is configured" : "known: \(known.joined(separator: ", "))"
        return "no such \(thing) '\(name)'; \(hint)"
    }

    private static func standard(_ error: MethodError) -> String {
        switch MethodError.Standard(rawValue: error.name) {
        case .methodNotFound, .interfaceNotFound:
            "the running killswitchd is another version; type 'systemctl restart killswitchd'"
        case .invalidParameter:
            "the daemon does not take the parameter '\(error.parameters["parameter"]?.string ?? "")'"
        case nil:
            "the daemon says '\(error.name)'"
        }
    }
}
