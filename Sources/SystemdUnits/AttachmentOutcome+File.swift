import Decision
package import Files
import Gates
import JSON

/// The file in which a run of `killswitchctl attach --from-configuration` tells the daemon how it has ended. Root
/// alone writes there: the run must not write into a directory of the daemon's user.
extension AttachmentOutcome {
    private static let folder = "/run/killswitchd-attach"
    private static let path = "\(folder)/outcome.json"

    /// Writes the result of a run.
    package func write() throws(FileError) {
        let units = { (units: [ListedUnit]) -> JSON.Value in
            .array(units.map { .object(Self.json(of: $0)) })
        }
        let refusals = refused.sorted { $0.key < $1.key }.map { unit, problem -> JSON.Value in
            var object = Self.json(of: unit)
            object["problem"] = .string(problem)
            return .object(object)
        }
        let aliases = names.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.text) }
        let object: JSON.Object = [
            "attached": units(attached), "detached": units(detached), "refused": .array(refusals),
            "names": .object(JSON.Object(aliases.map { ($0, .string($1)) })),
            "failure": .optional(failure),
        ]
        try Directory.create(Self.folder)
        try File.replace(
            Self.path, with: Array((JSON.Value.object(object).serialized(.pretty) + "\n").utf8))
    }

    /// Reads the result of the last run.
    static func read() -> AttachmentOutcome {
        var outcome = AttachmentOutcome()
        do {
            let bytes = try File.read(path, limit: 16 << 20)
            let object = try JSON.Value.parse(bytes).object ?? [:]
            outcome.attached = object.objects("attached").compactMap(unit)
            outcome.detached = object.objects("detached").compactMap(unit)
            for entry in object.objects("refused") {
                guard let unit = unit(entry) else { continue }
                outcome.refused[unit] = entry["problem"]?.string ?? ""
            }
            for (alias, name) in object["names"]?.object ?? [:] {
                guard let alias = UnitName(alias), let name = name.string.flatMap(UnitName.init)
                else { continue }
                outcome.names[alias] = name
            }
            outcome.failure = object["failure"]?.string
        } catch {
            outcome.failure = "\(error); see 'systemctl status killswitchd-attach.service'"
        }
        return outcome
    }

    private static func json(of unit: ListedUnit) -> JSON.Object {
        ["service": .string(unit.service.text), "name": .string(unit.name.text)]
    }

    private static func unit(_ object: JSON.Object) -> ListedUnit? {
        guard let service = object["service"]?.string.flatMap({ ServiceName($0) }),
            let name = object["name"]?.string.flatMap({ UnitName($0) })
        else { return nil }
        return ListedUnit(service: service, name: name)
    }
}
