import ArgumentParser
import Configuration
import Decision
import EventLoop
import Files
import Gates
import Glibc
import JSON
import Storage
import SystemdUnits

/// `killswitchctl attach SERVICE UNIT…`
struct Attach: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Attach systemd units to a service: its gate stops and starts them.",
        discussion: """
            Writes a drop-in for each unit, and one for the target that starts and stops it, to \
            /etc/systemd/system. Enabled units stay enabled. A socket, timer or path unit that \
            triggers a unit is attached too, and started instead of it. --on notice: start the unit \
            once for each notice of an end or maintenance (text: state.env). --from-configuration: \
            make attachments match 'units' in the configuration. --renew: rewrite all drop-ins for \
            this version.

            example: killswitchctl attach shop web.service worker@3.service
            example: killswitchctl attach shop mail@shop.service --on notice
            example: killswitchctl attach --each 'app@%s.service'
            """)

    @Option(help: "Run with this state of the service, not while its gate is open.")
    var state: GateTarget.Kind = .open

    @Option(help: "Start once for each notice of an end or of planned maintenance.")
    var on: OnArgument?

    @Flag(
        name: .customLong("early"),
        help: "Start with the closing, while other units still stop; with --state.")
    var isEarly = false

    @Flag(name: .customLong("run-at-open"), help: "Run oneshot services at each opening.")
    var runsAtOpen = false

    @Flag(help: "Attach the units that require these units too.") var withDependents = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be written, and change nothing.") var isDryRun = false

    @Flag(
        name: .customLong("force"),
        help: "Attach units that this host may need, or to a service that is not known.")
    var isForced = false

    @Option(
        name: .customLong("each"),
        help: ArgumentHelp(
            "Attach this unit to each service of the configuration; %s is the service's name.",
            valueName: "unit"), transform: UnitPattern.read)
    var patterns: [UnitPattern] = []

    @Flag(
        name: .customLong("renew"),
        help: "Bring the drop-ins of all attached units up to date; the package does that.")
    var renews = false

    @Flag(
        name: .customLong("from-configuration"),
        help: "Attach the 'units' of the configuration, and detach those that it lists no longer.")
    var isFromConfiguration = false

    @Flag(
        name: .customLong("remembered"),
        help: "Attach the units again that the removal of the package has detached.")
    var areRemembered = false

    @Flag(name: .customLong("no-reload"), help: "Do not have systemd read its unit files again.")
    var skipsReload = false

    @Flag(help: "Print JSON: the attached units, their targets, and the units that require them.")
    var json = false

    @OptionGroup var common: CommonOptions

    @Argument(
        help: "The service; none with --each, --renew, --remembered and --from-configuration.",
        completion: .services, transform: ServiceName.read)
    var service: ServiceName?

    @Argument(
        help: "The units; .service may be left out.", completion: .units,
        transform: UnitName.read)
    var units: [UnitName] = []

    func validate() throws {
        guard on == nil || state == .open && !runsAtOpen else {
            throw ValidationError(
                "--on is for units that run at a notice: it goes without --state and --run-at-open")
        }
        guard !isEarly || state.isOfClosedGate else {
            throw ValidationError(
                "--early is for units that run behind a closed gate: add --state maintenance, ended "
                    + "or update-required")
        }
        let isAlone = service == nil && units.isEmpty
        let modes = [renews, isFromConfiguration, areRemembered, !patterns.isEmpty].count { $0 }
        guard modes == 0 ? !units.isEmpty : modes == 1 && isAlone else {
            throw ValidationError(
                "name a service and its units, or give --each, --renew, --remembered or "
                    + "--from-configuration alone")
        }
    }

    func run() throws {
        if renews { return try Renewal.run(self) }
        if isFromConfiguration { return try ConfiguredUnits.run(self) }
        let groups = try groups()
        if let service, !isForced { try check(service) }
        if !isDryRun { try requireRoot("attach") }
        let loop = try EventLoop()
        let manager = try BlockingSystemdClient(on: loop)
        // Nothing is written if one of them cannot be attached.
        let plans = try groups.map { group in
            let rules = AttachmentPlan.Rules(
                withDependents: withDependents,
                runsAtOpen: group.runsAtOpen || group.target.kind == .notice, isForced: isForced)
            return (group, try AttachmentPlan(group.units, rules, describe: manager.describe))
        }
        for (group, plan) in plans { try attach(plan, as: group) }
        if !isDryRun, !skipsReload {
            try manager.reload()
            let published = try PublishedFiles(common)
            for (group, plan) in plans {
                for line in try plan.stops(at: group.target, published, manager, on: loop)
                where !json { printLine(line) }
            }
        }
        if areRemembered, !isDryRun { try DetachedUnits.forget() }
        guard json else { return }
        let reports = plans.map { report(of: $1, on: $0.target) }
        printJSON(service == nil ? .array(reports) : reports[0])
    }

    /// The units to attach, by service.
    private func groups() throws -> [AttachedGroup] {
        if areRemembered {
            let remembered = try DetachedUnits.remembered()
            if remembered.isEmpty { printError("no detached units are remembered") }
            return remembered
        }
        if let service { return [group(units, of: service)] }
        return try configuredServices().map { service in
            let units = try patterns.map { pattern in
                guard let unit = pattern.unit(of: service.text) else {
                    throw CommandFailure("'\(pattern.text)' is not a unit of '\(service)'")
                }
                return unit
            }
            return group(units, of: service)
        }
    }

    private func group(_ units: [UnitName], of service: ServiceName) -> AttachedGroup {
        AttachedGroup(
            target: GateTarget(service: service, kind: on == nil ? state : .notice), units: units,
            isEarly: isEarly, runsAtOpen: runsAtOpen)
    }

    /// Throws for a service that no daemon has decided and that the configuration does not name.
    private func check(_ service: ServiceName) throws {
        let published = try PublishedFiles(common)
        do { try published.check(service) } catch {
            // A configuration that cannot be read names no service.
            let isConfigured = readable { try configuredServices().contains(service) } ?? false
            guard published.directory == Directories.system, isConfigured else { throw error }
        }
    }

    private func configuredServices() throws -> [ServiceName] {
        try orFail(.configuration) {
            try LoadedConfiguration(reading: .standard, zones: .checkedElsewhere).settings.services
                .map(\.name)
        }
    }

    private func attach(_ plan: AttachmentPlan, as group: AttachedGroup) throws {
        for part in plan.parts { try attach(part, as: group) }
        for warning in plan.parts.compactMap(\.unit.warning) { printError(warning) }
        for (unit, other) in plan.dependents {
            printError("\(unit.stopsWith(other)); attach '\(unit)' too with --with-dependents")
        }
    }

    /// The object for programs: the files, and the units that the gate will not start again.
    private func report(of plan: AttachmentPlan, on target: GateTarget) -> JSON.Value {
        let units = plan.parts.map { part -> JSON.Object in
            let name = part.unit.name
            return [
                "name": .string(name.text),
                "drop_in": .string(AttachmentFiles.dropIn(of: name, for: target.service)),
                "target_drop_in": .string(AttachmentFiles.dropIn(of: target, for: name)),
                "starts": .bool(part.isStarted),
                "cause": .optional(part.cause),
            ]
        }
        let dependents = plan.dependents.map { unit, other -> JSON.Object in
            ["name": .string(unit.text), "requires": .string(other.text)]
        }
        return .object([
            "service": .string(target.service.text), "target": .string(target.name),
            "dry_run": .bool(isDryRun), "units": .objects(units),
            "dependents": .objects(dependents),
        ])
    }

    private func attach(_ part: AttachmentPlan.Part, as group: AttachedGroup) throws {
        let (unit, target, service) = (part.unit.name, group.target, group.target.service)
        let attachment = Attachment(target: target, unit: unit, isEarly: group.isEarly)
        let options = target.kind.option + (group.isEarly ? " --early" : "")
        let cause = "killswitchctl attach\(options) \(service) \(unit)"
        if !isDryRun { try permitted { try UnitDirectory.write(attachment, part, cause: cause) } }
        if json { return }
        let tail = part.cause.map { " (\($0))" } ?? ""
        guard isDryRun else { return printLine("attached \(unit) to \(target.name)\(tail)") }
        printLine("\(AttachmentFiles.dropIn(of: unit, for: service)):\(tail)")
        printLines(attachment.dropIn(cause, title: part.unit.title))
        printLine("\(AttachmentFiles.dropIn(of: target, for: unit)):")
        printLines(attachment.targetDropIn(cause, isStarted: part.isStarted))
        printLine()
    }
}

/// Throws unless the caller is root. `reason` says what the command needs that for.
func requireRoot(
    _ command: String, because reason: String = "it writes /etc/systemd/system"
) throws {
    guard geteuid() == 0 else {
        throw CommandFailure(.notPermitted, "\(command) needs root: \(reason)")
    }
}

/// Performs `work`, which writes /etc/systemd/system.
func permitted(_ work: () throws -> Void) throws {
    do {
        try work()
    } catch let error as FileError where error.isPermissionDenied {
        throw CommandFailure(.notPermitted, "\(error)")
    }
}

extension BlockingSystemdClient {
    /// Whether systemd runs here, by the test of sd_booted(3). It does not in an image that is being built.
    static var isNeeded: Bool {
        get throws { try File.exists("/run/systemd/system") }
    }

    /// The system's service manager over the bus; uses the command's loop if it has one.
    convenience init(on loop: EventLoop? = nil) throws(Failure) {
        try self.init(address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS"), on: loop)
    }
}
