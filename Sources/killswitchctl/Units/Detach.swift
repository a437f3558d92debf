import ArgumentParser
import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// `killswitchctl detach SERVICE UNIT…`
struct Detach: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Detach systemd units from a service: its gate no longer stops or starts them.",
        discussion: """
            Removes the files that attach has written for the units and for their triggers. It \
            neither stops nor starts a unit; a unit that a closed gate keeps down is named with the \
            command that starts it. With --all, it names units that are attached by your own files.

            example: killswitchctl detach shop web.service
            """)

    @Flag(name: .customLong("all"), help: "Detach every unit: of the service, or of all services.")
    var isAll = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be removed, and change nothing.") var isDryRun = false

    @Flag(
        name: .customLong("remember"),
        help: "With --all: remember them for 'attach --remembered'; the package does that.")
    var areRemembered = false

    @Flag(help: "Print JSON: the detached units and their targets.") var json = false

    @OptionGroup var common: CommonOptions

    @Argument(
        help: "The service; with --all it may be left out.", completion: .services,
        transform: ServiceName.read)
    var service: ServiceName?

    @Argument(
        help: "The units; .service may be left out.", completion: .attachedUnits,
        transform: UnitName.read)
    var units: [UnitName] = []

    func validate() throws {
        guard isAll != (!units.isEmpty) else {
            throw ValidationError("name a service and its units, or give --all")
        }
        guard isAll || !areRemembered else { throw ValidationError("--remember is for --all") }
    }

    func run() throws {
        if !isDryRun { try requireRoot("detach") }
        let attached = try AttachmentFiles.all().filter { service == nil || $0.service == service }
        let concerned = isAll ? attached : try named(among: attached)
        if concerned.isEmpty { printError("nothing is attached by this command") }
        let down = downUnits(among: concerned)
        if areRemembered, !isDryRun { try permitted { try DetachedUnits.remember(concerned) } }
        let verb = isDryRun ? "would detach" : "detached"
        for attachment in concerned {
            if !isAll, attachment.isOfConfiguration {
                printError(
                    "the configuration lists '\(attachment.unit)' in 'units' of service "
                        + "'\(attachment.service)': remove it, or the next reload attaches it again"
                )
            }
            if !isDryRun { try permitted { try UnitDirectory.remove(attachment) } }
            if !json { printLine("\(verb) \(attachment.unit) from \(attachment.target.name)") }
        }
        let isLoaded = try !isDryRun && !concerned.isEmpty && BlockingSystemdClient.isNeeded
        if isLoaded { try BlockingSystemdClient().reload() }
        if json {
            printJSON(report(of: concerned, down))
        } else {
            for (unit, service) in down.sorted(by: { $0.key < $1.key }) {
                printLine(
                    "\(unit) is down, because '\(service)' is closed; to start it: "
                        + "systemctl start \(unit)")
            }
        }
        if isAll { nameOthers(than: attached) }
    }

    private func report(of concerned: [Attachment], _ down: [UnitName: ServiceName]) -> JSON.Value {
        let units = concerned.map { attachment in
            var object = attachment.object
            let isDown = down[attachment.unit] != nil
            object["start"] = .optional(isDown ? "systemctl start \(attachment.unit)" : nil)
            return object
        }
        return .object(["dry_run": .bool(isDryRun), "units": .objects(units)])
    }

    /// The units that a closed gate keeps down, which nothing starts once they are detached; none in an image.
    private func downUnits(among attachments: [Attachment]) -> [UnitName: ServiceName] {
        var services: [UnitName: ServiceName] = [:]
        do {
            guard try BlockingSystemdClient.isNeeded else { return [:] }
            let manager = try BlockingSystemdClient()
            for attachment in attachments where attachment.target.kind == .open {
                let service = attachment.service
                let marker = "\(Directories.system)/\(service)/\(Gate.closed.rawValue)"
                guard try File.exists(marker), try UnitDirectory.isStarted(attachment),
                    try manager.describe(attachment.unit).active.isDown
                else { continue }
                services[attachment.unit] = service
            }
        } catch {
            printError("\(CommandFailure(error).message); units that are down are not named")
        }
        return services
    }

    /// Names the units that stay attached by other files, as the daemon's files tell. An error is a warning.
    private func nameOthers(than attached: [Attachment]) {
        guard let published = orWarn({ try PublishedFiles(common) }) else { return }
        for name in orWarn(published.servicesIfAny) ?? [] where service == nil || name == service {
            let own = attached.filter { $0.service == name }.map(\.unit.text)
            let units = orWarn { try published.units(of: name) } ?? []
            let attached = units.filter { $0["attached"]?.bool != false }
            for unit in attached.compactMap({ $0["name"]?.string }) where !own.contains(unit) {
                printError(
                    "'\(unit.printable)' stays attached to '\(name)': killswitchctl did not write these "
                        + "files")
            }
        }
    }

    /// The result of `work`; nil after an error, which is a warning.
    private func orWarn<Value>(_ work: () throws -> Value) -> Value? {
        do {
            return try work()
        } catch {
            let problem = CommandFailure(error).message
            printError("\(problem); units that killswitchctl did not attach are not named")
            return nil
        }
    }

    private func named(among attached: [Attachment]) throws -> [Attachment] {
        let isAsked = try BlockingSystemdClient.isNeeded
        var wanted: Set<UnitName> = []
        for unit in units {
            guard attached.contains(where: { $0.unit == unit }) else {
                throw CommandFailure("unit '\(unit)' is not attached to '\(service?.text ?? "")'")
            }
            wanted.insert(unit)
            if isAsked {
                let known = try BlockingSystemdClient().describe(unit)
                wanted.formUnion(known.triggeredBy + known.triggers)
            } else {
                // Without systemd, assume that a unit of the same name triggers it.
                let stem = { (name: UnitName) in name.text.dropLast(name.type.count) }
                wanted.formUnion(attached.map(\.unit).filter { stem($0) == stem(unit) })
            }
        }
        return attached.filter { wanted.contains($0.unit) }
    }
}
