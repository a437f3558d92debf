import Decision
import Gates
import Systemd

extension Call {
    /// systemd's name on the bus.
    static let systemd = "org.freedesktop.systemd1"
    /// The interface by which every object shows its properties.
    static let properties = "org.freedesktop.DBus.Properties"

    /// systemd sends its signals only to subscribers.
    static var subscribe: Call { manager("subscribe to systemd", "Subscribe") }

    /// A method of systemd's manager.
    static func manager(_ purpose: String, _ member: String, _ arguments: [Argument] = []) -> Call {
        Call(
            purpose, to: systemd, path: ObjectPath.manager, interface: "\(systemd).Manager",
            member: member, arguments)
    }

    /// Reads all properties of a unit; systemd loads the unit for that if it is not loaded yet.
    static func read(_ unit: UnitName) -> Call {
        Call(
            "read unit '\(unit)'", to: systemd, path: ObjectPath.of(unit),
            interface: properties, member: "GetAll", [.text("")])
    }

    /// Reads one property of a unit; the interface is that of all units, `Unit`, or that of its type.
    static func property(_ name: String, of unit: UnitName, _ interface: String) -> Call {
        property(
            name, of: "\(systemd).\(interface)", at: ObjectPath.of(unit),
            "read \(name) of unit '\(unit)'")
    }

    /// Reads one property of an object of a service on the bus.
    static func property(
        _ name: String, of interface: String, at path: String, by service: String = systemd,
        _ purpose: String
    ) -> Call {
        Call(
            purpose, to: service, path: path, interface: properties, member: "Get",
            [.text(interface), .text(name)])
    }
}

extension Match {
    /// The rule for a signal of systemd's manager.
    static func signal(ofManager member: String) -> String {
        "type='signal',sender='\(Call.systemd)',path='\(ObjectPath.manager)',"
            + "interface='\(Call.systemd).Manager',member='\(member)'"
    }

    /// The rule for a signal of the bus: a name has come or gone.
    static func owner(of name: String) -> String {
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
            + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    }
}

extension Message {
    /// Whether a NameOwnerChanged signal tells that the name has come to the bus.
    var tellsOfNewOwner: Bool {
        content { try ($0.text(), $0.text(), $0.text()) }.map { !$0.2.isEmpty } ?? false
    }
}

extension BusError {
    /// Whether the caller lacks the right.
    var isDenied: Bool {
        name == "org.freedesktop.DBus.Error.AccessDenied"
            || name == "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
    }

    /// What the refusal of a job means for the gate.
    var gateProblem: GateObstacle {
        var words = message
        if words.last == "." { words.removeLast() }
        // systemd asks polkit by the bus, and passes on why polkit could not be started.
        if isDenied || words.hasPrefix("Unit polkit") { return .noPermission(words) }
        return isUnitUnknown ? .noTarget(words) : .refused(words)
    }

    /// Whether systemd has no such unit in its memory.
    var isUnitUnknown: Bool { name == "\(Call.systemd).NoSuchUnit" }

    /// Whether a subscription was there already.
    var isRepetition: Bool { name == "\(Call.systemd).AlreadySubscribed" }

    /// Whether systemd refused, and not the bus.
    var isOfSystemd: Bool { name?.hasPrefix(Call.systemd) ?? false }
}
