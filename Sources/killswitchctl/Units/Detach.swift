import ArgumentParser
import Configuration
import Decision
import EventLoop
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// `killswitchctl detach SERVICE UNIT…`
struct Detach: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Detach systemd units from a service: its gate no longer stops or starts them.",
        usage: """
            killswitchctl detach <service> <unit> ... [--dry-run] [--json]
                   killswitchctl detach --all [<service>] [--dry-run] [--json]
            """,
        discussion: """
            Lists the units in /etc/killswitchd/conf.d/attached.toml no longer, and removes the \
            drop-ins of them and of their triggers. A unit that another file of the configuration \
            lists is refused with file and line. It neither stops nor starts a unit; a unit that a \
            closed gate keeps down is named with the command that starts it. With --all, it names \
            units that are attached by your own files.

            example: killswitchctl detach shop web.service
            """)

    @Flag(name: .customLong("all"), help: "Detach every unit: of the service, or of all services.")
    var isAll = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Print the files that would be removed, and change nothing.") var isDryRun = false

    @Flag(
        name: .customLong("keep-configuration"),
        help: ArgumentHelp(
            "With --all: the configuration goes on listing them; the removed package does that.",
            visibility: .hidden))
    var keepsConfiguration = false

    @Flag(help: "Print JSON: the detached units and their targets.") var json = false

    @OptionGroup var common: CommonOptions

    @Argument(
        help: "The service; with --all it may be left out.", completion: .services,
        transform: ServiceName.read)
    var service: ServiceName?

    @Argument(
        help: ArgumentHelp("The units; .service may be left out.", valueName: "unit"),
        completion: .attachedUnits,
        transform: UnitName.read)
    var units: [UnitName] = []

    func validate() throws {
        guard isAll != (!units.isEmpty) else {
            throw ValidationError("name a service and its units, or give --all")
        }
        guard isAll || !keepsConfiguration else {
            throw ValidationError("--keep-configuration is for --all")
        }
    }

    func run() throws {
        let lock = try isDryRun ? nil : AttachmentLock.acquire(for: "detach")
        defer { withExtendedLifetime(lock) {} }
        let attached = try AttachmentFiles.all().filter { service == nil || $0.service == service }
        let concerned = isAll ? attached : try named(among: attached)
        let (lists, file) = try lists(without: concerned)
        var change: AttachmentChange?
        if let lists { change = try self.change(lists, releasing: concerned) }
        let detached = change?.detached ?? concerned
        if detached.isEmpty { printError("nothing is attached by this command") }
        let down = downUnits(among: detached)
        if !isDryRun {
            try permitted {
                try file?.write()
                _ = try change?.write()
                if change == nil {
                    let disabled = Set(detached.filter(\.isDisabled).map(\.unit))
                    if !disabled.isEmpty, try BlockingSystemdClient.isNeeded {
                        AttachmentChange.enable(disabled, try BlockingSystemdClient())
                    }
                    for attachment in detached { try UnitDirectory.remove(attachment) }
                }
                // The daemon would have them made again.
                if try BlockingSystemdClient.isNeeded {
                    try (change?.outcome ?? .withoutUnits(detached)).write()
                }
            }
            if try !(change?.isEmpty ?? detached.isEmpty) && BlockingSystemdClient.isNeeded {
                try BlockingSystemdClient().reload()
            }
        }
        if json {
            printJSON(report(of: detached, down))
        } else {
            let verb = isDryRun ? "would detach" : "detached"
            for attachment in detached {
                printLine("\(verb) \(attachment.unit) from \(attachment.target.name)")
            }
            for (unit, service) in down.sorted(by: { $0.key < $1.key }) {
                printLine(
                    "\(unit) is down, because '\(service)' is closed; to start it: "
                        + "systemctl start \(unit)")
            }
        }
        if isAll { nameOthers(than: attached) }
        guard !isDryRun, let change, !change.isEmpty else { return }
        try flushOutput()
        let published = try PublishedFiles(common)
        try ShownUnits(published: published, attachments: detached, areAttached: false)
            .wait(on: EventLoop())
    }

    /// The configuration as it lists the units without these, and the file of `attach`. One that cannot be read is left
    /// as it is: a way out must not need it.
    private func lists(
        without concerned: [Attachment]
    ) throws -> (AttachmentLists?, AttachedFile?) {
        if keepsConfiguration { return (nil, nil) }
        let named = units.compactMap { unit in service.map { ListedUnit(service: $0, name: unit) } }
        let all = isAll ? concerned.map(\.listed) : named
        do {
            guard try File.exists(ConfigurationPlaces.standard.main) else {
                throw CommandFailure(.configuration)
            }
            var lists = try AttachmentLists()
            // A service that is only observed lists its units for later: one that it still holds is let go.
            let held = lists.isEnforced
            for unit in all
            where held(unit.service) || !concerned.contains(where: { $0.listed == unit }) {
                do { _ = try lists.remove(unit.name, from: unit.service) } catch {
                    guard isAll else { throw error }
                    printError(CommandFailure(error).message)
                }
            }
            return (lists, lists.file)
        } catch let failure as CommandFailure where failure.status == .configuration {
            // Without a configuration there is nothing to say.
            if !failure.message.isEmpty {
                printError("the configuration is not read: \(failure.message)")
            }
            var file = readable { try AttachedFile() }
            for unit in all { _ = file?.remove(unit.name, from: unit.service) }
            return (nil, file)
        }
    }

    /// What is to be changed; nil where systemd does not run, so that nobody tells what triggers a unit.
    private func change(
        _ lists: AttachmentLists, releasing concerned: [Attachment]
    ) throws -> AttachmentChange? {
        guard try BlockingSystemdClient.isNeeded else { return nil }
        let manager = try BlockingSystemdClient()
        let change = try AttachmentChange(
            lists, releasing: Set(concerned.map(\.listed)), manager)
        for (attachment, part) in change.wanted
        where !isAll && attachment.service == service && units.contains(attachment.unit) {
            let cause = part.cause.map { ", because \($0.clause)" } ?? ""
            throw CommandFailure("unit '\(attachment.unit)' stays attached\(cause)")
        }
        return change
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
        let listed =
            service.flatMap { service in readable { try AttachedFile().units[service] } ?? nil }
            ?? []
        for unit in units {
            guard
                attached.contains(where: { $0.unit == unit })
                    || listed.contains(where: { $0.name == unit })
            else {
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

extension AttachmentOutcome {
    /// What the daemon hears where the configuration was not compared: these units are not held any more.
    fileprivate static func withoutUnits(_ detached: [Attachment]) -> AttachmentOutcome {
        let units = Set(detached.map(\.listed))
        var outcome = AttachmentOutcome.read()
        outcome.wanted.removeAll { units.contains($0.listed) }
        outcome.kept.removeAll { units.contains($0.listed) }
        // So the next configuration is compared again.
        outcome.listed.subtract(units)
        return outcome
    }
}
