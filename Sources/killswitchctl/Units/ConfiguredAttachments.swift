import Decision
import Gates
import HostConfiguration
import JSON
import Records
import Settings

/// `killswitchctl attach --from-configuration`: the units that the configuration names, for configuration management.
/// A unit of the package calls it when the daemon starts and when it reads its configuration again.
///
/// The drop-ins name this command. So a unit that the configuration names no more is detached, and a unit that
/// somebody has attached stays.
struct ConfiguredAttachments {
    private let command: Attach
    private static let cause = "killswitchctl attach --from-configuration"

    /// With the options of `command`.
    init(_ command: Attach) { self.command = command }

    /// Performs the command. A unit that cannot be attached is named, and stops no other.
    func run() throws {
        let units = try orFail(.configuration) {
            try Configuration(reading: .standard).settings.units
        }
        if !command.isDryRun { try requireRoot("attach") }
        let before = try UnitDirectory.attachments()
        let manager = try SystemManager()
        var kept: Set<Attachment> = []
        var changed: [Attachment] = []
        var hasFailed = false
        for (service, names) in units.sorted(by: { $0.key < $1.key }) {
            let target = GateTarget(service: service, kind: .open)
            for name in names {
                do {
                    let plan = try AttachmentPlan(
                        [name], runsAtOpen: command.runsAtOpen, command, describe: manager.describe)
                    for part in plan.parts {
                        let attachment = Attachment(target: target, unit: part.unit.name)
                        kept.insert(attachment)
                        if try write(attachment, part) { changed.append(attachment) }
                    }
                } catch {
                    hasFailed = true
                    printError("\(service): \(CommandFailure(error).message)")
                    kept.formUnion(before.filter { $0.unit == name && $0.service == service })
                }
            }
        }
        let stale = try before.filter { try !kept.contains($0) && isOurs($0) }
        for attachment in stale where !command.isDryRun {
            try permitted { try UnitDirectory.remove(attachment) }
        }
        if !command.isDryRun, !command.skipsReload, !(changed + stale).isEmpty {
            try manager.reload()
        }
        show(attached: changed, detached: stale)
        if hasFailed { throw CommandFailure(.no) }
    }

    /// Writes an attachment; false if it stands already.
    private func write(_ attachment: Attachment, _ part: AttachmentPlan.Part) throws -> Bool {
        let old = try UnitDirectory.text(of: attachment.unit, for: attachment.service)
        // Somebody has attached it too: that stays, and says who did it.
        guard try old == nil || isOurs(attachment) else { return false }
        if old == attachment.dropIn(Self.cause, title: part.unit.title) { return false }
        if !command.isDryRun {
            try permitted {
                try UnitDirectory.write(
                    attachment, startedFrom: part.link, cause: Self.cause, title: part.unit.title)
            }
        }
        return true
    }

    /// Whether this command has written the drop-in.
    private func isOurs(_ attachment: Attachment) throws -> Bool {
        let text = try UnitDirectory.text(of: attachment.unit, for: attachment.service) ?? ""
        return text.hasPrefix("\(Attachment.head)\(Self.cause)\n")
    }

    private func show(attached: [Attachment], detached: [Attachment]) {
        if command.json {
            let names = { (attachments: [Attachment]) -> JSON.Value in
                .array(
                    attachments.map {
                        .object([
                            "name": .string($0.unit.text), "service": .string($0.service.text),
                        ])
                    })
            }
            return say(
                .object([
                    "dry_run": .bool(command.isDryRun), "attached": names(attached),
                    "detached": names(detached),
                ]))
        }
        let would = command.isDryRun ? "would be " : ""
        for one in attached { say("\(one.unit) \(would)attached to \(one.target.name)") }
        for one in detached { say("\(one.unit) \(would)detached from \(one.target.name)") }
    }
}
