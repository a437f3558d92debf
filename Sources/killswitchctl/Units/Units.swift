import ArgumentParser
import CivilTime
import ControlSocket
import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// `killswitchctl units [SERVICE]`
struct Units: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the attached systemd units, and whether each follows its gate.",
        discussion: """
            WANTED is the state that the gate wants a unit in; a dash means that the gate only \
            permits the unit. TOOK is how long its last stop or start took, counted from the move \
            of the gate. Below the table are the starts that a gate has refused, and a line for \
            everything else that is wrong with the services.

            example: killswitchctl units shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Show only units of services that are not configured.") var orphans = false

    @Flag(
        help: """
            Print nothing, but fail if units are attached and no daemon runs, with their names.
            """) var check = false

    @Flag(help: "Print JSON.") var json = false

    @Argument(
        help: "The service; by default every service.", completion: .services,
        transform: ServiceName.read)
    var service: ServiceName?

    func run() throws {
        let published = try PublishedFiles(common)
        if check { return try published.checkThatUnitsHaveADaemon() }
        let own = try AttachmentRow.all(in: published)
            .filter { service == nil || $0.service == service }
        if let service, own.isEmpty { try published.check(service) }
        let rows = own.filter { !orphans || $0.isOrphan }
        if json {
            printJSON(.array(rows.map(\.json)))
        } else if rows.isEmpty {
            printError("no unit is attached")
        } else {
            let header = ["SERVICE", "UNIT", "WANTED", "ACTIVE", "SINCE", "TOOK", "PROBLEM"]
            let table = Columns(rows: [header] + rows.map(\.cells))
            for line in table.lines() { printLine(line) }
        }
        guard !json else { return }
        for line in rows.compactMap(\.refusals) { printLine(line) }
        let host = PublishedHost(of: published, about: service.map { [$0] } ?? [])
        for problem in host.problems where !problem.isOfUnit {
            let line = problem.line(at: published.now)
            if problem.isOfHost { printError(line) } else { printLine(line) }
            if problem.kind == .unitsOrphaned { printLine("    to do: \(problem.advice)") }
        }
    }
}

extension PublishedFiles {
    /// Throws if units are attached and no daemon runs, unless one gave a sign of life lately: it is being restarted.
    fileprivate func checkThatUnitsHaveADaemon() throws {
        let attached = try AttachmentFiles.all()
        if attached.isEmpty { return }
        if let sign = signOfLife, now - sign <= RuntimeDirectory.longestSilence { return }
        guard let absence else { return }
        let units = attached.map { "\($0.unit) ('\($0.service)')" }.joined(separator: ", ")
        throw CommandFailure(
            "\(absence); no gate moves. These units stay "
                + "as they are, stopped or running: \(units). Type 'systemctl start "
                + "killswitchd', or 'killswitchctl open --all --without-daemon' to open the gates without it"
        )
    }

    /// The objects of units.json; none if the daemon does not move gates.
    func units(of service: ServiceName) throws -> [JSON.Object] {
        let folder = "\(directory)/\(service)"
        let read = { () throws(FileError) in
            try File.read(FileName.units, of: folder, limit: 4 << 20)
        }
        guard let bytes = try File.ifThere(read()) else { return [] }
        return (readable { try JSON.Value.parse(bytes) }?.array ?? []).compactMap(\.object)
    }
}

/// An attached unit by its drop-in and by units.json, which alone has those that were attached by hand.
struct AttachmentRow {
    let service: ServiceName
    let unit: String
    /// The target by its drop-in; nil without one.
    let target: String?
    /// Its object in units.json; nil if the daemon does not know it.
    let state: JSON.Object?
    /// The problem of the gate of its service, as a clause; nil without one.
    let gateProblem: String?
    let isOrphan: Bool
    let problem: String?

    var cells: [String] {
        let wanted = state?["wanted"]?.bool.map { $0 ? "up" : "down" }
        let time = state?["took_ms"]?.number.map { "\($0.literal) ms" }
        let keepers = (state?.strings("held_by") ?? []).map { "'\($0)'" }.joined(separator: ", ")
        return [
            service.text, unit, wanted ?? "-", state?["active"]?.string ?? "-",
            state?["since"]?.string ?? "-", time ?? "-",
            problem ?? (keepers.isEmpty ? "-" : "kept down by \(keepers)"),
        ]
    }

    /// How many of its starts the gate has refused, in a line; nil if there were none.
    var refusals: String? {
        guard let count = state?["refused_starts"]?.number?.int64, count > 0 else { return nil }
        let starts = count == 1 ? "1 start" : "\(count) starts"
        return "\(service): the gate has refused \(starts) of \(unit), the last at "
            + (state?["refused_at"]?.string ?? "an unknown time")
    }

    var json: JSON.Value {
        var object = state ?? ["name": .string(unit), "problem": .optional(problem)]
        object["service"] = .string(service.text)
        object["target"] = .optional(target)
        object["orphan"] = .bool(isOrphan)
        object["gate_problem"] = .optional(gateProblem)
        return .object(object)
    }

    /// All of them, by service and name, from the drop-ins and the files of the daemon.
    static func all(in published: PublishedFiles) throws -> [AttachmentRow] {
        let configured = Set(try published.servicesIfAny())
        let attached = try AttachmentFiles.all()
        return try configured.union(attached.map(\.service)).sorted().flatMap { service in
            let states = try published.units(of: service)
            let own = attached.filter { $0.service == service }
            let targets = own.map { (unit: $0.unit.text, target: Optional($0.target.name)) }
            let others = states.compactMap { $0["name"]?.string }
                .filter { unit in !targets.contains { $0.unit == unit } }
            let isOrphan = !configured.contains(service) && !configured.isEmpty
            // Without any service no daemon has decided anything: it is not known which are configured.
            let problem =
                configured.isEmpty
                ? PublishedFiles.noDaemon : isOrphan ? "its service is not configured" : nil
            return (targets + others.map { ($0, nil) }).map { unit, target in
                let state = states.first { $0["name"]?.string == unit }
                return AttachmentRow(
                    service: service, unit: unit, target: target, state: state,
                    gateProblem: published.gate(of: service)?.problem, isOrphan: isOrphan,
                    problem: state?["problem"]?.string ?? problem)
            }
        }
    }
}
