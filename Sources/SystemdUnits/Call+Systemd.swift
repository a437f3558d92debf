package import Decision
import Gates
import Systemd

extension Call {
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
    /// The rest of the rule for a signal of systemd's manager.
    static func signal(ofManager member: String) -> String {
        "path='\(ObjectPath.manager)',interface='\(Call.systemd).Manager',member='\(member)'"
    }
}

extension BusError {
    /// Whether the caller lacks the right.
    var isDenied: Bool {
        name == "org.freedesktop.DBus.Error.AccessDenied"
            || name == "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
    }

    /// Whether systemd has no such unit in its memory.
    var isUnitUnknown: Bool { name == "\(Call.systemd).NoSuchUnit" }

    /// Whether a subscription was there already.
    var isRepetition: Bool { name == "\(Call.systemd).AlreadySubscribed" }

    /// Whether the other side has answered, with an error. Else it is gone, or has not answered in time.
    var isOfRemote: Bool {
        guard let name else { return false }
        return !["NoReply", "Timeout", "Disconnected"].contains {
            name == "org.freedesktop.DBus.Error.\($0)"
        }
    }

    /// Whether systemd refused, and not the bus.
    var isOfSystemd: Bool { name?.hasPrefix(Call.systemd) ?? false }
}

/// The object of a unit on the bus: its name with every byte but letters and digits written as `_xx`.
package enum ObjectPath {
    static let manager = "/org/freedesktop/systemd1"
    private static let units = "/org/freedesktop/systemd1/unit/"

    /// The path of a unit's object.
    package static func of(_ unit: UnitName) -> String {
        var path = units
        for (position, byte) in unit.text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                path.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9") where position > 0:
                path.unicodeScalars.append(Unicode.Scalar(byte))
            default: path += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return path
    }

    /// The unit of an object; nil if the object is no unit.
    package static func unit(_ path: String) -> UnitName? {
        guard path.hasPrefix(units) else { return nil }
        var bytes: [UInt8] = []
        var rest = path.utf8.dropFirst(units.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            let code = String(decoding: rest.prefix(2), as: UTF8.self)
            guard code.utf8.count == 2, let decoded = UInt8(code, radix: 16) else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return UnitName(String(decoding: bytes, as: UTF8.self))
    }
}
