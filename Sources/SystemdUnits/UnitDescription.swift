package import Decision
package import Gates
import Systemd

/// The properties of a unit that decide whether it can be attached to a gate.
package struct UnitDescription: Hashable, Sendable {
    /// Its own name, even if it was asked for by an alias.
    package var name: UnitName
    /// `Description=`: what systemd calls it in its messages.
    package var title = ""
    /// Whether there is such a unit: `loaded`, `not-found`, `masked`, `error`.
    package var load = ""
    package var active = ActiveState.inactive
    /// Whether it is enabled, as `systemctl is-enabled` says it; read only for a trigger that is down.
    package var fileState = ""
    /// `Type=` of a service; empty for others.
    package var type = ""
    /// Whether a service stays active after its process has ended.
    package var remainsActive = false
    /// How systemd stops it; empty for a unit without processes.
    package var killMode = ""
    /// The units that it starts when something happens.
    package var triggers: [UnitName] = []
    /// The units that start it when something happens.
    package var triggeredBy: [UnitName] = []
    /// The units that wait for it.
    package var before: [UnitName] = []
    /// The units that stop with it, because they require it or are bound to it.
    package var requiredBy: [UnitName] = []

    /// Whether it is a job that ends, and no state.
    package var isJob: Bool { type == "oneshot" && !remainsActive }

    /// Whether it runs, or is enabled and will be started.
    package var isInUse: Bool { !active.isDown || fileState.hasPrefix("enabled") }
}

extension UnitDescription {
    /// The properties that are read, by their interfaces. Not by one `GetAll`: that looks at every link and drop-in.
    static func properties(of unit: UnitName) -> [(interface: String, names: [String])] {
        let any = [
            "Id", "Description", "LoadState", "ActiveState", "Triggers", "TriggeredBy", "Before",
            "RequiredBy", "BoundBy",
        ]
        return switch unit.type {
        case "service": [("Unit", any), ("Service", ["Type", "RemainAfterExit", "KillMode"])]
        case "socket": [("Unit", any), ("Socket", ["KillMode"])]
        default: [("Unit", any)]
        }
    }

    var mustReadFileState: Bool {
        active.isDown && ["socket", "timer", "path"].contains(name.type)
    }

    /// Reads a property from the answer to Get.
    mutating func read(_ property: String, from message: Message) throws(BusError) {
        switch property {
        case "Id": name = UnitName(try message.word()) ?? name
        case "Description": title = try message.word()
        case "LoadState": load = try message.word()
        case "ActiveState": active = ActiveState(rawValue: try message.word()) ?? .inactive
        case "UnitFileState": fileState = try message.word()
        case "Type": type = try message.word()
        case "RemainAfterExit": remainsActive = try message.flag()
        case "KillMode": killMode = try message.word()
        case "Triggers": triggers = try message.names()
        case "TriggeredBy": triggeredBy = try message.names()
        case "Before": before = try message.names()
        case "RequiredBy", "BoundBy": requiredBy += try message.names()
        default: break
        }
    }
}
