import Configuration
import ControlSocket
import Decision
import JSON

extension CommandFailure {
    /// An error of the daemon, in words that name the next command to type.
    init(_ error: MethodError) {
        let text = error.parameters.text
        let known = error.parameters.strings("known")
        let service = text("service")
        switch MethodError.Kind(rawValue: error.name) {
        case nil: self.init("the daemon says '\(error.name)'")
        case .noSuchService:
            self.init(.noSuchService, noSuch("service", service, known, orNone: "is configured"))
        case .noSuchSource:
            self.init(
                .noSuchService, noSuch("source", text("source"), known, orNone: "is configured"))
        case .notPermitted:
            let group = text("group")
            self.init(
                .notPermitted,
                "not permitted: only root and members of the group '\(group)' may do that; "
                    + "type 'sudo' before the command, or as root 'adduser USER \(group)'")
        case .notInTheFuture:
            self.init(.usage, "'\(text("until"))' is past already; give --for DURATION, such as 2h")
        case .configurationRefused:
            self.init(
                .configuration,
                "configuration refused; the last accepted one stays in force:\n" + text("problems"))
        case .gateNotOpen: self.init("'\(service)' is \(text("state")); a drill needs an open gate")
        case .alreadyForced:
            let override = error.parameters.object("override")
            let word = { (key: String) in override.text(key).printable }
            self.init(
                "'\(service)' is forced to \(word("state")) by \(word("author")) until "
                    + "\(override.end.printable): \(word("reason")); to end the order, type "
                    + "'killswitchctl release \(service)'")
        case .closingHeld:
            self.init(
                "close_at_once holds '\(service)' open although its flags close it; to close it, "
                    + "type 'killswitchctl confirm \(service)'")
        case .gatesNotMoved: self.init(ShownGate.noGates)
        case .methodNotFound, .methodNotImplemented, .interfaceNotFound:
            self.init(
                "the running killswitchd is another version; type 'systemctl restart killswitchd'")
        case .invalidParameter:
            self.init("the daemon does not take the parameter '\(text("parameter"))'")
        }
    }
}

/// The message for an unknown name; `none` ends the sentence if there are no names at all: `is configured`.
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
