import ArgumentParser
import Decision
import Files
import Gates
import Glibc
import JSON

/// `killswitchctl attach SERVICE UNIT…`
struct Attach: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Attach systemd units to a service: they stop and start with its gate.",
        discussion: """
            Writes a drop-in for each unit and a link that makes the gate start it, in \
            /etc/systemd/system. The unit stays enabled as it is. A socket, timer or path unit \
            that triggers a unit is attached with it, and started instead of it. With --renew, it \
            writes the drop-ins of all attached units again, as this version writes them.

            example: killswitchctl attach shop web.service worker@3.service
            """)

    @Option(help: "Run with this state of the service, not while its gate is open.")
    var state: AttachmentPoint = .open

    @Flag(name: .customLong("run-at-open"), help: "Run oneshot services at each opening.")
    var runsAtOpen = false

    @Flag(
        name: .customLong("with-dependents"), help: "Attach the units that require these units too."
    )
    var withDependents = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be written, and change nothing.")
    var isDryRun = false

    @Flag(
        name: .customLong("force"),
        help: "Attach units that this host may need, or to a service that is not known.")
    var isForced = false

    @Flag(
        name: .customLong("renew"),
        help: "Bring the drop-ins of all attached units up to date; the package does that.")
    var renews = false

    @Flag(
        name: .customLong("no-reload"),
        help: "Do not have systemd read its unit files again.")
    var skipsReload = false

    @Flag(help: "Print JSON: the attached units, their targets, and the units that require them.")
    var json = false

    @OptionGroup var common: CommonOptions

    @Argument(help: "The service; none with --renew.", completion: .services)
    var service: ServiceName?

    @Argument(help: "The units; .service may be left out.", completion: .units)
    var units: [UnitName] = []

    func validate() throws {
        guard renews ? service == nil : !units.isEmpty else {
            throw ValidationError("name a service and its units, or give --renew alone")
        }
    }

    func run() throws {
        guard let service else { return try renew() }
        if !isForced { try PublishedFiles(common).check(service) }
        if !isDryRun { try requireRoot("attach") }
        let manager = try UnitManager()
        let options = AttachmentPlan.Options(
            runsAtOpen: runsAtOpen, withDependents: withDependents, isForced: isForced)
        let plan = try AttachmentPlan(units, options, describe: manager.describe)
        let target = state.target(of: service)
        for part in plan.parts { try attach(part, to: target) }
        for (unit, other) in plan.dependents {
            printError(
                "killswitchctl: '\(unit)' requires '\(other)': it stops with it and does not come "
                    + "back with it; --with-dependents attaches it too")
        }
        if !isDryRun, !skipsReload { try manager.reload() }
        if json { print(report(of: plan, on: target).serialized(.pretty)) }
    }

    /// Brings the drop-ins up to date, and names those that somebody has edited. Nothing is stopped.
    private func renew() throws {
        if !isDryRun { try requireRoot("attach --renew") }
        let renewal = try orFail { () throws(FileError) in try Renewal() }
        let verb = isDryRun ? "would renew" : "renewed"
        if !isDryRun {
            do {
                try renewal.write()
            } catch {
                throw CommandFailure(error)
            }
        }
        if json {
            print(renewal.report(isDryRun: isDryRun).serialized(.pretty))
        } else {
            for part in renewal.outdated { print("\(verb) \(part.path)") }
        }
        for part in renewal.edited {
            printError(
                "killswitchctl: '\(part.path)' is not as attach writes it, and stays so; 'killswitchctl "
                    + "attach \(part.attachment.service) \(part.attachment.unit)' replaces it")
        }
        let isReloading = !isDryRun && !skipsReload && !renewal.outdated.isEmpty
        if isReloading, try UnitManager.isNeeded { try UnitManager().reload() }
    }

    /// The object for programs: the files, and the units that the gate will not start again.
    private func report(of plan: AttachmentPlan, on target: GateTarget) -> JSON.Value {
        let directory = UnitDirectory.system
        let units = plan.parts.map { part -> JSON.Value in
            let name = part.unit.name
            return .object([
                "name": .string(name.text),
                "drop_in": .string(directory.dropIn(of: name, for: target.service)),
                "link": part.isStarted ? .string(directory.link(from: target, to: name)) : .null,
                "cause": .optional(part.cause),
            ])
        }
        let dependents = plan.dependents.map { unit, other -> JSON.Value in
            .object(["name": .string(unit.text), "requires": .string(other.text)])
        }
        return .object([
            "service": .string(target.service.text), "target": .string(target.name),
            "dry_run": .bool(isDryRun), "units": .array(units), "dependents": .array(dependents),
        ])
    }

    private func attach(_ part: AttachmentPlan.Part, to target: GateTarget) throws {
        let directory = UnitDirectory.system
        let attachment = Attachment(target: target, unit: part.unit.name)
        let service = target.service
        let file = part.isStarted ? startingFile(of: part.unit) : nil
        let cause =
            "killswitchctl attach\(state == .open ? "" : " --state \(state.rawValue)") "
            + "\(service) \(part.unit.name)"
        let note = part.cause.map { " (\($0))" } ?? ""
        if isDryRun {
            if json { return }
            print("\(directory.dropIn(of: part.unit.name, for: service)):\(note)")
            print(attachment.dropIn(cause), terminator: "")
            if let file {
                print("\(directory.link(from: target, to: part.unit.name)) -> \(file)")
            }
            print()
            return
        }
        do {
            try directory.write(attachment, startedFrom: file, cause: cause)
        } catch {
            throw CommandFailure(error)
        }
        if json { return }
        print("attached \(part.unit.name) to \(target.name)\(note)")
    }

    /// The target of the link that starts a unit. systemd goes by the link's name; the file is for people.
    private func startingFile(of unit: UnitDescription) -> String {
        unit.file.isEmpty ? "/dev/null" : unit.file
    }
}

extension AttachmentPoint: ExpressibleByArgument {}

/// Throws unless the caller is root.
func requireRoot(_ command: String) throws(CommandFailure) {
    guard geteuid() == 0 else {
        throw CommandFailure(.notPermitted, "\(command) needs root: it writes /etc/systemd/system")
    }
}
