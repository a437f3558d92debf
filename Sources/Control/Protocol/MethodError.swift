package import Decision
package import JSON

/// A typed error of the interface, with what a program needs to act on it.
package struct MethodError: Error, Hashable, Sendable {
    /// With its interface, such as `io.killswitchd.NoSuchService`.
    package let name: String
    package let parameters: JSON.Object

    package init(_ name: String, _ parameters: JSON.Object) {
        self.name = name
        self.parameters = parameters
    }
}

extension MethodError {
    /// The errors of `org.varlink.service`.
    package enum Standard: String, Sendable {
        case interfaceNotFound = "org.varlink.service.InterfaceNotFound"
        case methodNotFound = "org.varlink.service.MethodNotFound"
        case invalidParameter = "org.varlink.service.InvalidParameter"
    }

    /// The errors of our own interface.
    package enum Kind: String, CaseIterable, Sendable {
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

    package static func interfaceNotFound(_ interface: String) -> MethodError {
        MethodError(Standard.interfaceNotFound.rawValue, ["interface": .string(interface)])
    }

    package static func methodNotFound(_ method: String) -> MethodError {
        MethodError(Standard.methodNotFound.rawValue, ["method": .string(method)])
    }

    package static func invalidParameter(_ parameter: String) -> MethodError {
        MethodError(Standard.invalidParameter.rawValue, ["parameter": .string(parameter)])
    }

    /// No service of this name is configured. `known` are those that are.
    package static func noSuchService(_ name: String, known: [ServiceName]) -> MethodError {
        MethodError(
            Kind.noSuchService.rawValue,
            ["service": .string(name), "known": .names(known)])
    }

    /// No service follows a source of this name.
    package static func noSuchSource(_ name: String, known: [SourceName]) -> MethodError {
        MethodError(
            Kind.noSuchSource.rawValue,
            ["source": .string(name), "known": .names(known)])
    }

    /// The caller may read, and this method acts.
    package static func notPermitted(_ method: String) -> MethodError {
        MethodError(
            Kind.notPermitted.rawValue,
            ["method": .string(method), "group": .string(Permission.group)])
    }

    /// An override is to end at a time that is past.
    package static func notInTheFuture(_ time: String) -> MethodError {
        MethodError(Kind.notInTheFuture.rawValue, ["until": .string(time)])
    }

    /// The configuration on disk is wrong; the one accepted last stays in force.
    package static func configurationRefused(_ problems: String) -> MethodError {
        MethodError(Kind.configurationRefused.rawValue, ["problems": .string(problems)])
    }

    /// An order is for an open gate alone, and the service is in this state.
    package static func gateNotOpen(_ service: ServiceName, _ state: State) -> MethodError {
        MethodError(
            Kind.gateNotOpen.rawValue,
            ["service": .string(service.text), "state": .string(state.rawValue)])
    }

    /// The same, and somebody's order is in force: an `Override` of the interface.
    package static func alreadyForced(
        _ service: ServiceName, _ override: JSON.Object
    ) -> MethodError {
        MethodError(
            Kind.alreadyForced.rawValue,
            ["service": .string(service.text), "override": .object(override)])
    }

    /// The same, and the host guard keeps the gate open against its flags.
    package static func closingHeld(_ service: ServiceName) -> MethodError {
        MethodError(Kind.closingHeld.rawValue, ["service": .string(service.text)])
    }

    /// The same, and there is no gate: the daemon moves none.
    package static func gatesNotMoved(_ service: ServiceName) -> MethodError {
        MethodError(Kind.gatesNotMoved.rawValue, ["service": .string(service.text)])
    }
}

extension JSON.Value {
    /// A list of names.
    static func names<Thing>(_ names: [Name<Thing>]) -> JSON.Value {
        .array(names.map { .string($0.text) })
    }
}
