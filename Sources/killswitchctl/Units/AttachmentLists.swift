import Configuration
import Decision
import Gates
import SystemdUnits

/// The units that the configuration on disk lists, and the file of `attach` among them.
struct AttachmentLists {
    private let settings: Settings
    private var units: [ServiceName: [ConfiguredUnit]]
    private(set) var file: AttachedFile

    /// Reads the configuration. One that is not valid changes nothing.
    init() throws {
        settings = try orFail(.configuration) {
            try LoadedConfiguration(reading: .standard, zones: .checkedElsewhere).settings
        }
        units = settings.units
        file = try orFail(.configuration) { try AttachedFile() }
    }

    /// The configured services, each with the units that its gate holds: none if it is only observed.
    var configured: [(service: ServiceName, units: [ConfiguredUnit])] {
        settings.services.map { ($0.name, isEnforced($0.name) ? units[$0.name] ?? [] : []) }
    }

    /// Whether a service holds its units.
    func isEnforced(_ service: ServiceName) -> Bool {
        settings.services.first { $0.name == service }?.isEnforced ?? true
    }

    func isConfigured(_ service: ServiceName) -> Bool {
        settings.services.contains { $0.name == service }
    }

    /// Lists a unit of a service in the file of `attach`, unless another file lists the same. Throws if another file
    /// lists it otherwise.
    mutating func add(_ unit: ConfiguredUnit, to service: ServiceName) throws {
        let own = file.units[service]?.contains { $0.name == unit.name } ?? false
        if !own, let other = units[service]?.first(where: { $0.name == unit.name }) {
            guard other != unit else { return }
            throw CommandFailure(
                "the configuration lists '\(unit.name)' of '\(service)' already, as \(other.toml)"
                    + (place(of: unit.name, service).map { " (\($0))" } ?? ""))
        }
        file.add(unit, to: service)
        units[service] = (units[service] ?? []).filter { $0.name != unit.name } + [unit]
    }

    /// Lists a unit no longer. Returns whether the file of `attach` has listed it. Throws if another file lists it.
    mutating func remove(_ unit: UnitName, from service: ServiceName) throws -> Bool {
        let isListed = units[service]?.contains { $0.name == unit } ?? false
        let isOwn = file.remove(unit, from: service)
        guard isOwn || !isListed else {
            let place = place(of: unit, service).map { " at \($0)" } ?? " in another file"
            throw CommandFailure(
                "the configuration lists '\(unit)' of '\(service)'\(place): remove it there, then type "
                    + "'killswitchctl reload'")
        }
        units[service] = (units[service] ?? []).filter { $0.name != unit }
        return isOwn
    }

    private func place(of unit: UnitName, _ service: ServiceName) -> String? {
        settings.unitOrigins[ListedUnit(service: service, name: unit)]?.description
    }

    /// The command that a drop-in names as its author. An earlier version detaches those that its configuration has
    /// listed, once it lists them no longer, and leaves the others.
    func cause(of attachment: Attachment) -> String {
        let units = file.units[attachment.service] ?? []
        let ofOthers = (self.units[attachment.service] ?? []).contains { other in
            !units.contains { $0.name == other.name }
        }
        if ofOthers, !units.contains(where: { $0.name == attachment.unit }) {
            return Attachment.fromConfiguration
        }
        let options =
            attachment.target.kind.option + (attachment.isEarly ? " --early" : "")
            + (attachment.isDisabled ? " --only-by-gate" : "")
        return "killswitchctl attach\(options) \(attachment.service) \(attachment.unit)"
    }
}
