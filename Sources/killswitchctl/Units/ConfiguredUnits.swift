import Configuration
import Decision
import Gates
import Glibc
import JSON
import SystemdUnits

/// `killswitchctl attach --from-configuration`: attaches the units that the configuration lists, and detaches those
/// that it lists no longer. A unit of the package does that when the daemon starts or reloads. Other attachments stay.
struct ConfiguredUnits {
    private var attached: [(attachment: Attachment, part: AttachmentPlan.Part)] = []
    private var detached: [Attachment] = []
    /// The units that are not attached, and why.
    private var problems: [(unit: ListedUnit, text: String)] = []
    /// The names by which systemd knows units that are listed by an alias.
    private var names: [UnitName: UnitName] = [:]
    /// Units that stop with an attached unit, and do not start again with it.
    private var dependents: [(unit: UnitName, on: UnitName)] = []

    /// Compares the units of the configuration with the drop-ins. `describe` asks systemd about a unit.
    init(
        _ configured: [(service: ServiceName, units: [UnitName])],
        describe: @escaping (UnitName) throws -> UnitDescription
    ) throws {
        let own = Set(try AttachmentFiles.all().filter(\.isOfConfiguration))
        var wanted: Set<Attachment> = []
        for (service, units) in configured {
            let listed = { (unit: UnitName) in
                Attachment(
                    target: GateTarget(service: service, kind: .open), unit: unit,
                    isOfConfiguration: true)
            }
            for unit in units {
                wanted.insert(listed(unit))
                do {
                    let plan = try AttachmentPlan([unit], .init(), describe: describe)
                    for part in plan.parts {
                        let attachment = listed(part.unit.name)
                        if try isNew(attachment) { attached.append((attachment, part)) }
                        wanted.insert(attachment)
                    }
                    if let name = plan.parts.first?.unit.name, name != unit { names[unit] = name }
                    dependents += plan.dependents
                } catch {
                    let text = CommandFailure(error).message
                    problems.append((ListedUnit(service: service, name: unit), text))
                }
            }
        }
        // What belongs to a unit that cannot be looked at now may still be wanted.
        let failed = Set(problems.map(\.unit.service))
        detached = own.subtracting(wanted).filter { !failed.contains($0.service) }
            .sorted { ($0.target, $0.unit) < ($1.target, $1.unit) }
    }

    /// Whether a unit is still to be attached. Throws if somebody has attached it to another state.
    private func isNew(_ attachment: Attachment) throws -> Bool {
        let (unit, service) = (attachment.unit, attachment.service)
        guard let before = try AttachmentFiles.attachment(of: unit, for: service) else {
            return !attached.contains { $0.attachment == attachment }
        }
        guard before.target == attachment.target else {
            throw CommandFailure(
                "unit '\(unit)' is attached to \(before.target.name) and left unchanged; type "
                    + "'killswitchctl detach \(service) \(unit)', or remove it from 'units'")
        }
        return false
    }

    /// Attaches every unit that can be, then throws if there is another. The daemon is told the result, also a failure.
    static func run(_ command: Attach) throws {
        do {
            try perform(command)
        } catch let failure as CommandFailure where failure.message.isEmpty || command.isDryRun {
            throw failure
        } catch {
            var outcome = AttachmentOutcome()
            outcome.failure = CommandFailure(error).message
            if geteuid() == 0, try BlockingSystemdClient.isNeeded { try outcome.write() }
            throw error
        }
    }

    private static func perform(_ command: Attach) throws {
        let isDryRun = command.isDryRun
        let configured = try orFail(.configuration) {
            let settings = try LoadedConfiguration(reading: .standard, zones: .checkedElsewhere)
                .settings
            return settings.services.map { ($0.name, settings.units[$0.name] ?? []) }
        }
        if !isDryRun { try requireRoot("attach --from-configuration") }
        guard try BlockingSystemdClient.isNeeded else {
            return printError("systemd does not run here: the units are attached at the next boot")
        }
        let manager = try BlockingSystemdClient()
        let change = try ConfiguredUnits(configured, describe: manager.describe)
        if !isDryRun { try permitted { try change.write() } }
        let isChanged = !(change.attached.isEmpty && change.detached.isEmpty)
        if !isDryRun, !command.skipsReload, isChanged { try manager.reload() }
        if !isDryRun { try permitted { try change.outcome.write() } }
        if command.json {
            printJSON(change.report(isDryRun: isDryRun))
        } else {
            change.show(isDryRun: isDryRun)
        }
        for problem in change.problems {
            printError("'units' of service '\(problem.unit.service)': \(problem.text)")
        }
        if !change.problems.isEmpty { throw CommandFailure(.no) }
    }

    private var outcome: AttachmentOutcome {
        var outcome = AttachmentOutcome()
        let units = { (attachments: [Attachment]) in
            attachments.map { ListedUnit(service: $0.service, name: $0.unit) }
        }
        (outcome.attached, outcome.detached) = (units(attached.map(\.attachment)), units(detached))
        outcome.names = names
        for (unit, text) in problems { outcome.refused[unit] = text }
        return outcome
    }

    private func write() throws {
        for (attachment, part) in attached {
            try UnitDirectory.write(attachment, part, cause: Attachment.fromConfiguration)
        }
        for attachment in detached { try UnitDirectory.remove(attachment) }
    }

    private func show(isDryRun: Bool) {
        let prefix = isDryRun ? "would be " : ""
        for (attachment, part) in attached {
            let tail = part.cause.map { " (\($0))" } ?? ""
            printLine("\(prefix)attached \(attachment.unit) to \(attachment.target.name)\(tail)")
        }
        for attachment in detached {
            printLine("\(prefix)detached \(attachment.unit) from \(attachment.target.name)")
        }
        for warning in attached.compactMap(\.part.unit.warning) { printError(warning) }
        for (unit, other) in dependents where attached.contains(where: { $0.1.unit.name == other })
        {
            printError("\(unit.stopsWith(other)); list '\(unit)' in 'units' too")
        }
    }

    private func report(isDryRun: Bool) -> JSON.Value {
        let failed = problems.map { unit, text -> JSON.Object in
            [
                "name": .string(unit.name.text), "service": .string(unit.service.text),
                "problem": .string(text),
            ]
        }
        return .object([
            "dry_run": .bool(isDryRun), "attached": .objects(attached.map(\.attachment.object)),
            "detached": .objects(detached.map(\.object)), "failed": .objects(failed),
        ])
    }
}
