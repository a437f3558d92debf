import ArgumentParser
import Decision
import EventLoop
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
            that triggers a unit is attached with it, and started instead of it.

            example: killswitchctl attach shop web.service worker@3.service
            """)

    @Option(help: "Run with this state of the service, not while its gate is open.")
    var state: AttachmentPoint = .open

    @Flag(name: .customLong("run-at-open"), help: "Run oneshot services at each opening.")
    var runsAtOpen = false

    @Flag(
        name: .customLong("with-dependents"),
        help: "Attach the units that require these units too.")
    var withDependents = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be written, and change nothing.") var isDryRun = false

    @Flag(
        name: .customLong("force"),
        help: "Attach units that this host may need, or to a service that is not known.")
    var isForced = false

    @Flag(help: "Print JSON: the attached units, their targets, and the units that require them.")
    var json = false

    @OptionGroup var common: CommonOptions

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    @Argument(help: "The units; .service may be left out.", completion: .units)
    var units: [UnitName]

    func run() throws {
        if !isForced { try PublishedFiles(common).check(service) }
        if !isDryRun { try requireRoot("attach") }
        let manager = try SystemManager()
        let plan = try AttachmentPlan(self, describe: manager.describe)
        let target = state.target(of: service)
        for part in plan.parts { try attach(part, to: target) }
        for (unit, other) in plan.dependents {
            printError(
                "'\(unit)' requires '\(other)': it stops with it and does not come back with it; "
                    + "--with-dependents attaches it too")
        }
        if !isDryRun { try manager.reload() }
        if json { print(report(of: plan, on: target).serialized(.pretty)) }
    }

    /// The object for programs: the files, and the units that the gate will not start again.
    private func report(of plan: AttachmentPlan, on target: GateTarget) -> JSON.Value {
        let units = plan.parts.map { part -> JSON.Value in
            let name = part.unit.name
            let link = UnitDirectory.link(from: target, to: name)
            return .object([
                "name": .string(name.text),
                "drop_in": .string(UnitDirectory.dropIn(of: name, for: service)),
                "link": .optional(part.isStarted ? link : nil),
                "cause": .optional(part.cause),
            ])
        }
        let dependents = plan.dependents.map { unit, other -> JSON.Value in
            .object(["name": .string(unit.text), "requires": .string(other.text)])
        }
        return .object([
            "service": .string(service.text), "target": .string(target.name),
            "dry_run": .bool(isDryRun), "units": .array(units), "dependents": .array(dependents),
        ])
    }

    private func attach(_ part: AttachmentPlan.Part, to target: GateTarget) throws {
        let unit = part.unit.name
        let attachment = Attachment(target: target, unit: unit)
        // systemd goes by the link's name; the file is for people.
        let file = part.unit.file.isEmpty ? "/dev/null" : part.unit.file
        let option = state == .open ? "" : " --state \(state.rawValue)"
        let cause = "killswitchctl attach\(option) \(service) \(unit)"
        if !isDryRun {
            try permitted {
                try UnitDirectory.write(
                    attachment, startedFrom: part.isStarted ? file : nil, cause: cause)
            }
        }
        if json { return }
        let note = part.cause.map { " (\($0))" } ?? ""
        guard isDryRun else { return print("attached \(unit) to \(target.name)\(note)") }
        print("\(UnitDirectory.dropIn(of: unit, for: service)):\(note)")
        print(attachment.dropIn(cause), terminator: "")
        if part.isStarted { print("\(UnitDirectory.link(from: target, to: unit)) -> \(file)") }
        print()
    }
}

extension AttachmentPoint: ExpressibleByArgument {}

/// Throws unless the caller is root.
func requireRoot(_ command: String) throws {
    guard geteuid() == 0 else {
        throw CommandFailure(.notPermitted, "\(command) needs root: it writes /etc/systemd/system")
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

extension SystemManager {
    /// Whether systemd runs here, by the test of sd_booted(3). It does not in an image that is being built.
    static var isNeeded: Bool {
        get throws { try File.exists("/run/systemd/system") }
    }

    /// The system's service manager over the bus; uses the command's loop if it has one.
    convenience init(on loop: EventLoop? = nil) throws(Failure) {
        try self.init(address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS"), on: loop)
    }
}
