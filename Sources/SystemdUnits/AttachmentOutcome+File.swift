import Decision
package import Files
package import Gates
import JSON

/// The file in which a run of `killswitchctl attach --from-configuration` tells the daemon how it has ended. Root
/// alone writes there: the run must not write into a directory of the daemon's user.
extension AttachmentOutcome {
    /// Where it is, and the lock of those that write it.
    package static let folder = "/run/killswitchd-attach"
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
        let attachments = { (attachments: [Attachment]) -> JSON.Value in
            .array(
                attachments.map { attachment -> JSON.Value in
                    var object = Self.json(
                        of: ListedUnit(service: attachment.service, name: attachment.unit))
                    object["target"] = .string(attachment.target.unit?.text ?? "")
                    object["folder"] = .string(attachment.folder)
                    return .object(object)
                })
        }
        let aliases = names.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.text) }
        let object: JSON.Object = [
            "attached": units(attached), "detached": units(detached), "refused": .array(refusals),
            "listed": units(listed.sorted()), "wanted": attachments(wanted),
            "kept": attachments(kept),
            "idle_triggers": .array(idleTriggers.sorted().map { .string($0.text) }),
            "names": .object(JSON.Object(aliases.map { ($0, .string($1)) })),
            "failure": .optional(failure),
        ]
        try Directory.create(Self.folder)
        try File.replace(
            Self.path, with: Array((JSON.Value.object(object).serialized(.pretty) + "\n").utf8))
    }

    /// Reads the result of the last run. `isExpected`: there was one. Where it cannot be read, what was known `before`
    /// counts on, with the failure.
    package static func read(
        isExpected: Bool = false, before: AttachmentOutcome = AttachmentOutcome()
    ) -> AttachmentOutcome {
        var outcome = AttachmentOutcome()
        do {
            guard try isExpected || File.exists(path) else { return outcome }
            let bytes = try File.read(path, limit: 16 << 20)
            let object = try JSON.Value.parse(bytes).object ?? [:]
            outcome.attached = object.objects("attached").compactMap(unit)
            outcome.detached = object.objects("detached").compactMap(unit)
            outcome.listed = Set(object.objects("listed").compactMap(unit))
            outcome.wanted = object.objects("wanted").compactMap(attachment)
            outcome.kept = object.objects("kept").compactMap(attachment)
            outcome.idleTriggers = Set(object.strings("idle_triggers").compactMap { UnitName($0) })
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
            outcome = before
            outcome.failure = "\(error); see 'systemctl status killswitchd-attach.service'"
        }
        return outcome
    }

    private static func json(of unit: ListedUnit) -> JSON.Object {
        ["service": .string(unit.service.text), "name": .string(unit.name.text)]
    }

    private static func attachment(_ object: JSON.Object) -> Attachment? {
        guard let unit = unit(object),
            let target = object["target"]?.string.flatMap(UnitName.init).flatMap(GateTarget.init)
        else { return nil }
        var attachment = Attachment(target: target, unit: unit.name)
        attachment.folder = object["folder"]?.string ?? attachment.folder
        return attachment
    }

    private static func unit(_ object: JSON.Object) -> ListedUnit? {
        guard let service = object["service"]?.string.flatMap({ ServiceName($0) }),
            let name = object["name"]?.string.flatMap({ UnitName($0) })
        else { return nil }
        return ListedUnit(service: service, name: name)
    }
}
