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
        usage: "killswitchctl attach <service> <unit> ... [<options>]",
        discussion: """
            Lists the units in /etc/killswitchd/conf.d/attached.toml, and makes what systemd needs: \
            a drop-in of each unit, and one of the target that starts and stops it. Enabled units \
            stay enabled. A socket, timer or path unit that triggers a unit is attached too, and \
            started instead of it. --on notice: start the unit once for each notice of an end or \
            maintenance; --on change: once for each change of the state (text: state.env).

            example: killswitchctl attach shop web.service worker@3.service
            example: killswitchctl attach shop mail@shop.service --on notice
            """)

    @Option(help: "Run with this state of the service, not while its gate is open.")
    var state: GateTarget.Kind = .open

    @Option(
        help: "Start once for each notice of an end or maintenance, or each change of the state.")
    var on: OnArgument?

    @Flag(
        name: .customLong("early"),
        help: "Start with the closing, while other units still stop; with --state.")
    var isEarly = false

    @Flag(name: .customLong("run-at-open"), help: "Run oneshot services at each opening.")
    var runsAtOpen = false

    @Flag(
        name: .customLong("only-by-gate"),
        help: "Disable the units until they are detached: nothing but the gate starts them.")
    var isOnlyByGate = false

    @Flag(help: "Attach the units that require these units too.") var withDependents = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be written, and change nothing.") var isDryRun = false

    @Flag(
        name: .customLong("force"),
        help: "Attach units that this host may need, or to a service that is not known.")
    var isForced = false

    // For packages and for the unit that the daemon has started.

    @Flag(
        name: .customLong("renew"),
        help: ArgumentHelp(
            "List what an earlier version has attached, and rewrite its drop-ins.",
            visibility: .hidden))
    var renews = false

    @Flag(
        name: .customLong("from-configuration"),
        help: ArgumentHelp(
            "Attach what the configuration lists, and detach what it lists no longer.",
            visibility: .hidden))
    var isFromConfiguration = false

    @Flag(
        name: .customLong("no-reload"),
        help: ArgumentHelp(
            "Do not have systemd read its unit files again.", visibility: .hidden))
    var skipsReload = false

    @Flag(help: "Print JSON: the attached units, their targets, and the units that require them.")
    var json = false

    @OptionGroup var common: CommonOptions

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName?

    @Argument(
        help: ArgumentHelp("The units; .service may be left out.", valueName: "unit"),
        completion: .units,
        transform: UnitName.read)
    var units: [UnitName] = []

    func validate() throws {
        guard on == nil || state == .open && !runsAtOpen else {
            throw ValidationError(
                "--on is for units that run at an occasion: it goes without --state and --run-at-open"
            )
        }
        guard !isOnlyByGate || on == nil && state == .open else {
            throw ValidationError(
                "--only-by-gate is for units that run while the gate is open: it goes without --state and --on"
            )
        }
        guard !isEarly || state.isOfClosedGate else {
            throw ValidationError(
                "--early is for units that run behind a closed gate: add --state maintenance, ended "
                    + "or update-required")
        }
        let isAlone = service == nil && units.isEmpty
        let modes = [renews, isFromConfiguration].count { $0 }
        guard modes == 0 ? !units.isEmpty : modes == 1 && isAlone else {
            throw ValidationError("name a service and its units")
        }
    }

    func run() throws {
        if renews { return try Renewal.run(self) }
        if isFromConfiguration { return try FollowConfiguration.run(self) }
        if let service { try attach(to: service) }
    }

    private func attach(to service: ServiceName) throws {
        let lock = try isDryRun ? nil : AttachmentLock.acquire(for: "attach")
        defer { withExtendedLifetime(lock) {} }
        var lists = try AttachmentLists()
        if !lists.isConfigured(service) { try refuse(service, lists) }
        let loop = try EventLoop()
        let manager = try BlockingSystemdClient(on: loop)
        // Nothing is written if one of them cannot be attached.
        let rules = AttachmentPlan.Rules(
            withDependents: withDependents, runsAtOpen: runsAtOpen || on != nil, isForced: isForced)
        let plans = try units.map { unit in
            try AttachmentPlan([unit], rules, describe: manager.describe)
        }
        var named: Set<ListedUnit> = []
        for part in plans.flatMap(\.parts) where part.isListed {
            try lists.add(item(part.unit.name), to: service)
            named.insert(ListedUnit(service: service, name: part.unit.name))
        }
        let change = try AttachmentChange(lists, replacing: named, manager)
        if !isDryRun {
            try permitted {
                do { try lists.file.write() } catch let error as FileError
                    where error.isReadOnly
                {
                    throw CommandFailure(
                        "\(error); list the units in 'units' of the service, where this host's /etc is made"
                    )
                }
            }
            try change.make(manager, reloads: !skipsReload)
        }
        show(change, of: plans, service, lists)
        let isEnforced = lists.isEnforced(service)
        if !isEnforced {
            printError(
                "'\(service)' has 'enforce = false': its units are listed, and attached once it is enforced"
            )
        }
        guard !isDryRun, !skipsReload else { return }
        let published = try PublishedFiles(common)
        let target = GateTarget(service: service, kind: kind)
        for plan in plans where isEnforced {
            for line in try plan.stops(at: target, published, manager, on: loop) where !json {
                printLine(line)
            }
        }
        try flushOutput()
        let attachments = change.wanted.map(\.attachment).filter { named.contains($0.listed) }
        try ShownUnits(published: published, attachments: attachments, areAttached: true)
            .wait(on: loop)
    }

    private var kind: GateTarget.Kind { on?.kind ?? state }

    private func item(_ name: UnitName) -> ConfiguredUnit {
        var unit = ConfiguredUnit(name)
        (unit.kind, unit.isEarly, unit.runsAtOpen) = (kind, isEarly, runsAtOpen)
        unit.isAllowed = isForced && ProtectedUnit.reason(name) != nil
        unit.isOnlyByGate = isOnlyByGate
        return unit
    }

    /// A service that is not configured has no gate: its units are attached once it has one.
    private func refuse(_ service: ServiceName, _ lists: AttachmentLists) throws {
        guard isForced else {
            let known = lists.configured.map(\.service.text)
            let hint = nearest(to: service.text, among: known).map { "did you mean '\($0)'?" }
            throw CommandFailure(
                .noSuchService,
                "no service '\(service)' is configured; "
                    + (hint ?? "--force lists its units for the time when it is"))
        }
        printError("no service '\(service)' is configured: its units are attached once it is")
    }

    // MARK: What was done

    private func show(
        _ change: AttachmentChange, of plans: [AttachmentPlan], _ service: ServiceName,
        _ lists: AttachmentLists
    ) {
        let own = Set(
            plans.flatMap(\.parts).map { ListedUnit(service: service, name: $0.unit.name) })
        let held = change.wanted.filter { own.contains($0.attachment.listed) }
        if json {
            printJSON(.object(report(of: plans, of: service)))
        } else if isDryRun {
            printLine("\(AttachedFile.path):")
            printLines(lists.file.text)
            printLine()
            for (attachment, part) in held { show(attachment, part, lists) }
        } else {
            for (attachment, part) in held {
                printLine(part.line(attached: attachment))
                if attachment.isDisabled { printLine(attachment.price) }
            }
            change.show(isDryRun: false, without: own)
        }
        change.warn()
    }

    /// The object for programs: the files, and the units that the gate will not start again.
    private func report(of plans: [AttachmentPlan], of service: ServiceName) -> JSON.Object {
        let target = GateTarget(service: service, kind: kind)
        let units = plans.flatMap(\.parts).map { part -> JSON.Object in
            let name = part.unit.name
            var attachment = Attachment(target: target, unit: name)
            attachment.folder = AttachmentFiles.folder
            return [
                "name": .string(name.text), "drop_in": .string(attachment.dropIn),
                "target_drop_in": .string(attachment.targetDropIn),
                "starts": .bool(part.isStarted), "cause": .optional(part.cause?.clause),
                "treatment": .string(part.treatment(by: target)),
            ]
        }
        let dependents = plans.flatMap(\.dependents).map { unit, other -> JSON.Object in
            ["name": .string(unit.text), "requires": .string(other.text)]
        }
        return [
            "service": .string(service.text), "target": .string(target.name),
            "dry_run": .bool(isDryRun), "units": .objects(units),
            "dependents": .objects(dependents),
        ]
    }

    private func show(
        _ attachment: Attachment, _ part: AttachmentPlan.Part, _ lists: AttachmentLists
    ) {
        let cause = lists.cause(of: attachment)
        printLine("\(attachment.dropIn): \(part.line(attached: attachment))")
        printLines(attachment.dropInText(cause, title: part.unit.title))
        printLine("\(attachment.targetDropIn):")
        printLines(attachment.targetDropInText(cause, isStarted: part.isStarted))
        printLine()
    }
}

extension Attachment {
    /// What it costs that the gate alone starts the unit, as a line.
    fileprivate var price: String {
        "\(unit) is disabled until it is detached: 'systemctl isolate' stops it, and the next opening alone "
            + "starts it again"
    }
}

/// Throws unless the caller is root. `reason` says what the command needs that for.
func requireRoot(
    _ command: String, because reason: String = "it writes drop-ins of units"
) throws {
    guard geteuid() == 0 else {
        throw CommandFailure(.notPermitted, "\(command) needs root: \(reason)")
    }
}

/// Performs `work`, which writes drop-ins of units.
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
