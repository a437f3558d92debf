import Configuration
import ControlSocket
import Decision
import JSON

extension CommandFailure {
    /// An error of the daemon, in words that name the next command to type.
    init(_ error: MethodError) {
        let kind = MethodError.Kind(rawValue: error.name)
        self.init(kind?.status ?? .no, kind?.words(error) ?? "the daemon says '\(error.name)'")
    }
}

extension MethodError.Kind {
    fileprivate var status: ExitStatus {
        switch self {
        case .noSuchService, .noSuchSource: .noSuchService
        case .notPermitted: .notPermitted
        case .notInTheFuture: .usage
        case .configurationRefused: .configuration
        case .gateNotOpen, .alreadyForced, .closingHeld, .gatesNotMoved, .methodNotFound,
            .methodNotImplemented, .interfaceNotFound, .expectedMore, .invalidParameter:
            .no
        }
    }

    fileprivate func words(_ error: MethodError) -> String {
        let text = error.parameters.text
        let known = error.parameters.strings("known")
        let service = text("service")
        switch self {
        case .noSuchService: return noSuch("service", service, known, orNone: "is configured")
        case .noSuchSource: return noSuch("source", text("source"), known, orNone: "is configured")
        case .notPermitted:
            let group = text("group")
            return "not permitted: only root and members of the group '\(group)' may do that; "
                + "type 'sudo' before the command, or as root 'adduser USER \(group)'"
        case .notInTheFuture:
            return "'\(text("until"))' is past already; give --for DURATION, such as 2h"
        case .configurationRefused:
            return "configuration refused; the last accepted one stays in force:\n"
                + text("problems")
        case .gateNotOpen:
            return "'\(service)' is \(text("state")); a drill needs an open gate"
        case .alreadyForced:
            let override = error.parameters.object("override")
            let word = { (key: String) in override.text(key).printable }
            return "'\(service)' is forced to \(word("state")) by \(word("author")) until "
                + "\(word("until")): \(word("reason")); to end the order, type "
                + "'killswitchctl release \(service)'"
        case .closingHeld:
            return
                "close_at_once holds '\(service)' open although its flags close it; to close it, "
                + "type 'killswitchctl confirm \(service)'"
        case .gatesNotMoved:
            return ShownGate.noGates
        case .methodNotFound, .methodNotImplemented, .interfaceNotFound, .expectedMore:
            return "the running killswitchd is another version; "
                + "type 'systemctl restart killswitchd'"
        case .invalidParameter:
            return "the daemon does not take the parameter '\(text("parameter"))'"
        }
    }
}

/// The message for a name that no service or source has. `none` says that there are none at all:
/// `is configured`.
func noSuch(_ thing: String, _ name: String, _ known: [String], orNone none: String) -> String {
    let shown = known.prefix(20).joined(separator: ", ")
    let more = known.count > 20 ? " and \(known.count - 20) more" : ""
    if thing == "service", ServiceName(name).flatMap(OrphanedService.init) != nil {
        return "no such service '\(name)' is configured, and units are attached to it; type "
            + "'killswitchctl explain \(name)'"
    }
    let hint =
        known.isEmpty
        ? "no \(thing) \(none)"
        : nearest(to: name, among: known).map { "did you mean '\($0)'?" }
            ?? "known: \(shown)\(more)"
    return "no such \(thing) '\(name)'; \(hint)"
}
