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
    /// Whether it is enabled, as `systemctl is-enabled` says it.
    package var fileState = ""
    /// The file that it is loaded from; empty if there is none.
    package var file = ""
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

    /// Whether it runs, or is enabled and will be started.
    package var isInUse: Bool { !active.isDown || fileState.hasPrefix("enabled") }
}

extension Message {
    /// The answer to GetAll, before a unit is attached.
    func description(of asked: UnitName) throws(BusError) -> UnitDescription {
        var unit = UnitDescription(name: asked)
        try properties { name throws(BusError) in
            switch name {
            case "Id": unit.name = UnitName(try word()) ?? asked
            case "Description": unit.title = try word()
            case "LoadState": unit.load = try word()
            case "ActiveState": unit.active = ActiveState(rawValue: try word()) ?? .inactive
            case "UnitFileState": unit.fileState = try word()
            case "FragmentPath": unit.file = try word()
            case "Type": unit.type = try word()
            case "RemainAfterExit": unit.remainsActive = try flag()
            case "KillMode": unit.killMode = try word()
            case "Triggers": unit.triggers = try names()
            case "TriggeredBy": unit.triggeredBy = try names()
            case "Before": unit.before = try names()
            case "RequiredBy", "BoundBy": unit.requiredBy += try names()
            default: return false
            }
            return true
        }
        return unit
    }
}
