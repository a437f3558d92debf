import ArgumentParser
import Decision
import Files
import Gates

/// `killswitchctl detach SERVICE UNIT…`
struct Detach: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Detach systemd units from a service: its gate does not concern them any more.",
        discussion: """
            Removes what attach has written, for the units and for what was attached with them as \
            their trigger. A unit is neither stopped nor started by this. With --all, units that are \
            attached by files of yours are named.

            example: killswitchctl detach shop web.service
            """)

    @Flag(name: .customLong("all"), help: "Detach every unit: of the service, or of all services.")
    var isAll = false

    @Flag(name: .customLong("dry-run"), help: "Print what would be removed, and change nothing.")
    var isDryRun = false

    @OptionGroup var common: CommonOptions

    @Argument(help: "The service; with --all it may be left out.", completion: .services)
    var service: ServiceName?

    @Argument(help: "The units; .service may be left out.", completion: .units)
    var units: [UnitName] = []

    func validate() throws {
        guard isAll != (!units.isEmpty) else {
            throw ValidationError("name a service and its units, or give --all")
        }
    }

    func run() throws {
        if !isDryRun { try requireRoot("detach") }
        let attached = try known()
        let concerned = isAll ? attached : try named(among: attached)
        if concerned.isEmpty { printError("killswitchctl: nothing is attached by this command") }
        if isAll { try nameOthers() }
        for attachment in concerned {
            if !isDryRun {
                do {
                    try UnitDirectory.system.remove(attachment)
                } catch {
                    throw CommandFailure(error.isPermissionDenied ? .notPermitted : .no, "\(error)")
                }
            }
            let verb = isDryRun ? "would detach" : "detached"
            print("\(verb) \(attachment.unit) from \(attachment.target.unit?.text ?? "")")
        }
        if !isDryRun, !concerned.isEmpty, try UnitManager.isNeeded { try UnitManager().reload() }
    }

    /// Says which units are attached by files that attach has not written, and stay attached.
    private func nameOthers() throws {
        for row in try AttachedUnits(in: Published(common)).rows
        where row.target == nil && (service == nil || row.service == service) {
            printError(
                "killswitchctl: '\(row.unit)' is attached to '\(row.service)' by files of yours, and "
                    + "stays so")
        }
    }

    private func known() throws(CommandFailure) -> [Attachment] {
        do {
            return try UnitDirectory.system.attachments()
                .filter { service == nil || $0.service == service }
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    private func named(among attached: [Attachment]) throws -> [Attachment] {
        var wanted: Set<UnitName> = []
        for unit in units {
            guard attached.contains(where: { $0.unit == unit }) else {
                throw CommandFailure(
                    .no, "unit '\(unit)' is not attached to '\(service?.text ?? "")'")
            }
            wanted.insert(unit)
            let known = try UnitManager().describe(unit)
            wanted.formUnion(known.triggeredBy + known.triggers)
        }
        return attached.filter { wanted.contains($0.unit) }
    }
}
