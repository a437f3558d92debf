import Control
import Decision
import JSON
import Records

/// The running daemon, called over its control socket. Error messages name the next command to
/// type.
struct DaemonSocket {
    /// The path of the socket.
    let path: String
    private let timeout: Duration?

    /// The daemon that publishes in `directory`. Without a `timeout`, a call waits as long as the daemon
    /// works on it.
    init(in directory: String, timeout: Duration? = nil) {
        path = "\(directory)/\(FileName.controlSocket)"
        self.timeout = timeout
    }

    /// The daemon that publishes in the directory of the options.
    init(_ options: CommonOptions) throws(CommandFailure) {
        self.init(in: try PublishedFiles(options).directory)
    }

    /// Calls a method; returns its reply, and throws its error in words.
    func call(
        _ method: String, _ parameters: JSON.Object = JSON.Object()
    ) throws(CommandFailure) -> JSON.Object {
        switch try ask(method, parameters) {
        case .success(let reply): return reply
        case .failure(let error): throw CommandFailure(error)
        }
    }

    /// Calls a method; returns its reply or its error. Throws if the daemon does not answer.
    func ask(
        _ method: String, _ parameters: JSON.Object
    ) throws(CommandFailure) -> Result<JSON.Object, MethodError> {
        do {
            return try VarlinkClient(path, timeout: timeout).call(method, parameters)
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
    /// An error of the daemon, in words.
    init(_ error: MethodError) {
        let text = error.parameters.text
        let known = error.parameters.strings("known")
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
            let override = error.parameters["override"]?.object ?? JSON.Object()
            let word = { (key: String) in override.text(key).printable }
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
