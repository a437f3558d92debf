import Decision
import JSON

/// The interface `io.killswitchd` and its description.
package enum Interface {
    package static let name = "io.killswitchd"
    /// The interface that every Varlink service has.
    package static let standard = "org.varlink.service"

    /// Every method of `io.killswitchd`. A new method is a file, and a line here.
    package static let methods: [Method] = [
        .force, .release, .refresh, .activate, .reload, .forget, .confirm, .explain, .noteDrill,
    ]

    /// The description, as `GetInterfaceDescription` returns it.
    package static var description: String {
        """
        # Orders to killswitchd(8), and why a service is in its state. What it has decided is in files.
        # The socket is for root, the daemon's user and the group killswitchd: others cannot connect.
        # 'sudoUser' is the user who called sudo, as the client says: the record of the order names both.
        interface \(name)

        \(types)

        \(methods.map(\.declaration).joined(separator: "\n\n"))

        \(errors)

        """
    }

    private static let types = """
        # An operator's order, which overrides the flags. 'author' is who gave it. 'until' is null for one
        # that stands until it is released.
        type Override (state: string, reason: string, author: string, since: string, until: ?string)

        # One service: what its state.json holds. Times are RFC 3339.
        type Service (
        \(members)
        )

        # What a gate is in fact: what its gate.json holds. 'actual' is open, closing, closed, opening or
        # stuck, and null if nobody moves the gate: the daemon moves none, or the service is not enforced.
        type Gate (
          wanted: string,
          actual: ?string,
          since: ?string,
          problem: ?string,
          advice: ?string,
          next_try: ?string,
          drains_until: ?string,
          enforced: bool,
          units: ?(down: ?int, up: ?int, of: int, problems: []string)
        )
        """

    private static let members = PublishedFacts.fields.map { "  \($0.name): \($0.type)" }
        .joined(separator: ",\n")

    private static let errors = """
        # No service of this name is configured; 'known' are those that are.
        error NoSuchService (service: string, known: []string)

        # No service follows a source of this name; 'known' are those that are followed.
        error NoSuchSource (source: string, known: []string)

        # The caller is neither root nor in the group. Told to each connection, before a call is read.
        error NotPermitted (group: string)

        # The order would end in the past.
        error NotInTheFuture (until: string)

        # The configuration on disk is wrong, and the last accepted one stays in force. 'problems' has a
        # line for each mistake, with its file and line.
        error ConfigurationRefused (problems: string)

        # With ifOpen: the gate is closed, or the service undecided.
        error GateNotOpen (service: string, state: string)

        # With ifOpen: an order is in force already.
        error AlreadyForced (service: string, override: Override)

        # With ifOpen: the host guard holds the gate open against its flags, until Confirm.
        error ClosingHeld (service: string)

        # With ifOpen: the daemon decides and moves no gate, for it was not started with --gates.
        error GatesNotMoved (service: string)
        """
}

/// The interface `org.varlink.service`, which describes the others (varlink.org, "Service").
enum StandardInterface {
    /// Performs a call of one of its methods. `version` is the program's.
    static func answer(_ call: MethodCall, version: String) throws(MethodError) -> JSON.Object {
        switch call.method {
        case "GetInfo":
            _ = try Parameters(call.parameters, allowed: [])
            return [
                "vendor": "killswitchd", "product": "killswitchd", "version": .string(version),
                "url": "man:killswitchd(8)",
                "interfaces": [.string(Interface.standard), .string(Interface.name)],
            ]
        case "GetInterfaceDescription":
            let parameters = try Parameters(call.parameters, allowed: ["interface"])
            switch try parameters.string("interface") {
            case Interface.name: return ["description": .string(Interface.description)]
            case Interface.standard: return ["description": .string(description)]
            case let other: throw .interfaceNotFound(other)
            }
        default: throw .methodNotFound(call.method)
        }
    }

    private static let description = """
        # The interface that every Varlink service has.
        interface org.varlink.service

        # Who this is, and what interfaces there are.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The description of an interface, such as this one.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # There is no interface of this name.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The method cannot be performed as the call asks: none takes part in an 'upgrade'.
        error MethodNotImplemented (method: string)

        # This parameter is missing, not known, or of the wrong type or value.
        error InvalidParameter (parameter: string)

        """
}
