import Configuration
import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// The difference between the units that the configuration lists and the drop-ins that systemd reads.
///
/// `attach` and `detach` change the list, and then make this difference. A unit of the package makes it when the daemon
/// starts or reloads, and when a drop-in has gone.
struct AttachmentChange {
    /// The drop-ins to write: units that are not attached yet, and those whose text is of an earlier version.
    private(set) var attached: [(attachment: Attachment, part: AttachmentPlan.Part)] = []
    /// Those to remove: nothing lists the unit any more, and its gate is open or was asked to let it go.
    private(set) var detached: [Attachment] = []
    /// Those that stay although nothing lists the unit any more, because its gate is not open.
    private(set) var kept: [Attachment] = []
    /// Those that somebody has edited.
    private(set) var edited: [Attachment] = []
    /// The units that cannot be attached, and why.
    private(set) var problems: [(unit: ListedUnit, text: String)] = []
    /// Every unit that the gates hold once the change is made, with how it is attached.
    private(set) var wanted: [(attachment: Attachment, part: AttachmentPlan.Part)] = []
    /// Those of the units that cannot be attached that are attached already, such as a unit whose file is gone.
    private var unusable: [Attachment] = []
    /// Units that stop with an attached unit, and do not start again with it.
    private(set) var dependents: [(unit: UnitName, on: UnitName)] = []
    private var names: [UnitName: UnitName] = [:]
    private var idleTriggers: Set<UnitName> = []
    /// The attachments as they are now whose units were enabled, and are not as long as they are attached.
    private let disabling: [Attachment]
    private let lists: AttachmentLists
    private let manager: BlockingSystemdClient
    private let folder = AttachmentFiles.folder
    /// Those with drop-ins in `/etc/systemd/system`, which stay there also where that cannot be written: an image may
    /// have them.
    private let ofEtc: Set<ListedUnit>

    /// Compares the lists with the drop-ins, and asks systemd about the units. The gates let go of `released` units
    /// also where they are closed; drop-ins of `replaced` units are written anew if somebody has edited them.
    init(
        _ lists: AttachmentLists, releasing released: Set<ListedUnit> = [],
        replacing replaced: Set<ListedUnit> = [], _ manager: BlockingSystemdClient
    ) throws {
        (self.lists, self.manager) = (lists, manager)
        let present = try AttachmentFiles.all()
        disabling = present.filter(\.isDisabled)
        ofEtc = Set(present.filter { $0.folder == Attachment.folders[0] }.map(\.listed))
        let known = Set(present + AttachmentOutcome.read().wanted)
        for (service, units) in lists.configured {
            for unit in units {
                let attached = Set(known.filter { $0.service == service }.map(\.unit))
                do { try add(unit, of: service, attached) } catch {
                    let text = CommandFailure(error).message
                    problems.append((ListedUnit(service: service, name: unit.name), text))
                    unusable += known.filter { $0.service == service && $0.unit == unit.name }
                }
            }
        }
        for (attachment, part) in wanted {
            let isReplaced = replaced.contains(attachment.listed)
            switch try Renewal.state(of: attachment) {
            case .current where !isReplaced: break
            case .edited where !isReplaced: edited.append(attachment)
            case .current, .edited, .missing, .outdated: attached.append((attachment, part))
            }
        }
        try compareRest(releasing: released)
    }

    private mutating func add(
        _ unit: ConfiguredUnit, of service: ServiceName, _ attached: Set<UnitName>
    ) throws {
        let rules = AttachmentPlan.Rules(
            runsAtOpen: unit.runsAtOpen || unit.kind.isHook, isForced: unit.isAllowed,
            attached: attached)
        let plan = try AttachmentPlan([unit.name], rules, describe: manager.describe)
        for part in plan.parts {
            var own = ConfiguredUnit(part.unit.name)
            (own.kind, own.isEarly) = (unit.kind, unit.isEarly)
            var attachment = own.attachment(to: service)
            if !ofEtc.contains(attachment.listed) { attachment.folder = folder }
            if unit.isOnlyByGate {
                let name = part.unit.name
                attachment.isDisabled =
                    try disabling.contains { $0.unit == name } || manager.isEnabled(name)
            }
            let other = wanted.firstIndex { $0.attachment.listed == attachment.listed }
            if let other, part.cause != nil || wanted[other].part.cause == nil { continue }
            if let other { wanted.remove(at: other) }
            wanted.append((attachment, part))
        }
        if let name = plan.parts.first?.unit.name, name != unit.name { names[unit.name] = name }
        dependents += plan.dependents
        idleTriggers.formUnion(plan.idleTriggers)
    }

    /// What is attached and not wanted. What belongs to a unit that cannot be looked at now may still be wanted.
    private mutating func compareRest(releasing released: Set<ListedUnit>) throws {
        let listed = Set(wanted.map(\.attachment.listed))
        let failed = Set(problems.map(\.unit.service))
        for attachment in try AttachmentFiles.all() where !listed.contains(attachment.listed) {
            let isReleased = released.contains(attachment.listed)
            if failed.contains(attachment.service), !isReleased { continue }
            let isOpen = try File.exists(
                "\(Directories.system)/\(attachment.service)/\(Gate.open.rawValue)")
            if isReleased || isOpen, try isReleased || Renewal.isListed(attachment) {
                detached.append(attachment)
            } else {
                kept.append(attachment)
            }
        }
    }

    /// What the daemon hears of it.
    var outcome: AttachmentOutcome {
        var outcome = AttachmentOutcome()
        outcome.attached = attached.map(\.attachment.listed)
        outcome.detached = detached.map(\.listed)
        outcome.listed = Set(
            lists.configured.flatMap { service, units in
                units.map { ListedUnit(service: service, name: $0.name) }
            })
        outcome.wanted = wanted.map(\.attachment) + unusable
        outcome.kept = kept
        outcome.idleTriggers = idleTriggers
        outcome.refused = Dictionary(
            problems.map { ($0.unit, $0.text) }, uniquingKeysWith: { first, _ in first })
        outcome.names = names
        return outcome
    }

    /// Writes and removes the drop-ins, and disables and enables units. Returns whether systemd has to read its units
    /// again.
    func write() throws -> Bool {
        let others = wanted.map(\.attachment).filter { !$0.isDisabled }.map(\.listed)
        let over = Set(detached.map(\.listed) + others)
        let held = Set(
            disabling.filter { !over.contains($0.listed) }.map(\.unit)
                + wanted.map(\.attachment).filter(\.isDisabled).map(\.unit))
        // The drop-in alone records that its unit was enabled. It is written before the unit is disabled, and removed
        // after the unit is enabled.
        Self.enable(Set(disabling.map(\.unit)).subtracting(held), manager)
        for (attachment, part) in attached {
            try UnitDirectory.write(attachment, part, cause: lists.cause(of: attachment))
        }
        // Somebody may have enabled them again.
        var isChanged = !isEmpty
        for unit in held.sorted() where readable({ try manager.isEnabled(unit) }) ?? false {
            try manager.setEnabled(false, unit)
            isChanged = true
        }
        for attachment in detached { try UnitDirectory.remove(attachment) }
        return isChanged
    }

    /// Enables units again; one that is gone is a warning.
    static func enable(_ units: Set<UnitName>, _ manager: BlockingSystemdClient) {
        for unit in units.sorted() {
            do { try manager.setEnabled(true, unit) } catch {
                printError("\(CommandFailure(error).message); it stays disabled")
            }
        }
    }

    var isEmpty: Bool { attached.isEmpty && detached.isEmpty }

    /// Prints what was changed, or with `isDryRun` would be, but for these units.
    func show(isDryRun: Bool, without shown: Set<ListedUnit> = []) {
        let prefix = isDryRun ? "would be " : ""
        for (attachment, part) in attached where !shown.contains(attachment.listed) {
            printLine("\(prefix)\(part.line(attached: attachment))")
        }
        for attachment in detached {
            printLine("\(prefix)detached \(attachment.unit) from \(attachment.target.name)")
        }
    }

    /// Prints what is to be known of the units that it attaches, and why others are not attached.
    func warn() {
        for warning in attached.compactMap(\.part.unit.warning) { printError(warning) }
        for (unit, other) in dependents
        where attached.contains(where: { $0.part.unit.name == other }) {
            printError("\(unit.stopsWith(other)); attach '\(unit)' too with --with-dependents")
        }
        for attachment in edited {
            printError(
                "'\(attachment.dropIn)' is not as attach writes it, and is left unchanged; "
                    + "'killswitchctl attach \(attachment.service) \(attachment.unit)' replaces it")
        }
        for attachment in kept {
            let cause =
                lists.isEnforced(attachment.service)
                ? "lists it no longer" : "has 'enforce = false'"
            printError(
                "\(attachment.unit) stays attached to '\(attachment.service)', which \(cause) and is not "
                    + "open; to let it go: killswitchctl detach \(attachment.service) \(attachment.unit)"
            )
        }
        for problem in problems {
            printError("service '\(problem.unit.service)': \(problem.text)")
        }
    }

    func report(isDryRun: Bool) -> JSON.Object {
        let failed = problems.map { unit, text -> JSON.Object in
            [
                "name": .string(unit.name.text), "service": .string(unit.service.text),
                "problem": .string(text),
            ]
        }
        return [
            "dry_run": .bool(isDryRun), "attached": .objects(attached.map(\.attachment.object)),
            "detached": .objects(detached.map(\.object)), "kept": .objects(kept.map(\.object)),
            "failed": .objects(failed),
        ]
    }
}

extension AttachmentPlan.Part {
    func line(attached attachment: Attachment) -> String {
        let tail = cause.map { " (\($0.clause))" } ?? ""
        return "attached \(unit.name) to \(attachment.target.name)\(tail): "
            + treatment(by: attachment.target)
    }
}

extension Attachment {
    var listed: ListedUnit { ListedUnit(service: service, name: unit) }
}
