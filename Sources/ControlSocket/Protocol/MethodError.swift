package import Decision
package import JSON

/// A typed error of a method, with the data that a program needs to act on it.
package struct MethodError: Error, Hashable, Sendable {
    /// The full name, such as `io.killswitchd.NoSuchService`.
    package let name: String
    /// The data, as the interface description declares it.
    package let parameters: JSON.Object

    /// An error as it came over the socket.
    package init(_ name: String, _ parameters: JSON.Object) {
        self.name = name
        self.parameters = parameters
    }

    /// The errors of `org.varlink.service` and of `io.killswitchd`.
    package enum Kind: String, CaseIterable, Sendable {
        case interfaceNotFound = "org.varlink.service.InterfaceNotFound"
        case methodNotFound = "org.varlink.service.MethodNotFound"
        case methodNotImplemented = "org.varlink.service.MethodNotImplemented"
        case invalidParameter = "org.varlink.service.InvalidParameter"
        case noSuchService = "io.killswitchd.NoSuchService"
        case noSuchSource = "io.killswitchd.NoSuchSource"
        case notPermitted = "io.killswitchd.NotPermitted"
        case notInTheFuture = "io.killswitchd.NotInTheFuture"
        case configurationRefused = "io.killswitchd.ConfigurationRefused"
        case gateNotOpen = "io.killswitchd.GateNotOpen"
        case alreadyForced = "io.killswitchd.AlreadyForced"
        case closingHeld = "io.killswitchd.ClosingHeld"
        case gatesNotMoved = "io.killswitchd.GatesNotMoved"
    }

    private init(_ kind: Kind, _ parameters: JSON.Object) { self.init(kind.rawValue, parameters) }

    /// The server has no interface of this name.
    package static func interfaceNotFound(_ interface: String) -> Self {
        Self(.interfaceNotFound, ["interface": .string(interface)])
    }

    /// The interface has no method of this name.
    package static func methodNotFound(_ method: String) -> Self {
        Self(.methodNotFound, ["method": .string(method)])
    }

    /// No method gives the connection to another protocol, as the call asks (`upgrade`).
    package static func methodNotImplemented(_ method: String) -> MethodError {
        MethodError(.methodNotImplemented, ["method": .string(method)])
    }

    /// A parameter is missing, unknown, or has a wrong type or value.
    package static func invalidParameter(_ parameter: String) -> Self {
        Self(.invalidParameter, ["parameter": .string(parameter)])
    }

    /// No service of this name is configured; `known` are the configured ones.
    package static func noSuchService(_ name: String, known: [ServiceName]) -> Self {
        Self(.noSuchService, ["service": .string(name), "known": .names(known)])
    }

    /// No service follows a source of this name.
    package static func noSuchSource(_ name: String, known: [SourceName]) -> Self {
        Self(.noSuchSource, ["source": .string(name), "known": .names(known)])
    }

    /// The caller may not give orders.
    package static var notPermitted: MethodError {
        MethodError(.notPermitted, ["group": .string(Permission.groupName)])
    }

    /// An override would end in the past.
    package static func notInTheFuture(_ time: String) -> Self {
        Self(.notInTheFuture, ["until": .string(time)])
    }

    /// The configuration on disk is not put in force. `problems` has a line for each mistake.
    package static func configurationRefused(_ problems: String) -> Self {
        Self(.configurationRefused, ["problems": .string(problems)])
    }

    /// An order with `ifOpen` was rejected: the service is in this state, which is not open.
    package static func gateNotOpen(_ service: ServiceName, _ state: State) -> Self {
        Self(.gateNotOpen, ["service": .string(service.text), "state": .string(state.rawValue)])
    }

    /// An order with `ifOpen` was rejected: this override, an `Override` of the interface, is in force.
    package static func alreadyForced(_ service: ServiceName, _ override: JSON.Object) -> Self {
        Self(.alreadyForced, ["service": .string(service.text), "override": .object(override)])
    }

    /// An order with `ifOpen` was rejected: the host guard holds the gate open against its flags.
    package static func closingHeld(_ service: ServiceName) -> Self {
        Self(.closingHeld, ["service": .string(service.text)])
    }

    /// An order with `ifOpen` was rejected: the daemon runs without `--gates`.
    package static func gatesNotMoved(_ service: ServiceName) -> Self {
        Self(.gatesNotMoved, ["service": .string(service.text)])
    }
}

extension JSON.Value {
    static func names<Thing>(_ names: [Name<Thing>]) -> JSON.Value { .strings(names.map(\.text)) }
}
