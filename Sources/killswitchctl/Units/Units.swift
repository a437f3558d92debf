import ArgumentParser
import Decision
import Files
import Gates
import JSON
import Records

/// `killswitchctl units [SERVICE]`
struct Units: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the attached systemd units, and whether each is as it should be.",
        discussion: """
            WANTED is the state that the gate wants a unit in; a dash means that the gate only \
            permits the unit. A problem of the gate itself is below the table. TOOK is how long its last stop or start took, counted from the move \
            of the gate.

            example: killswitchctl units shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Show only units of services that are not configured.")
    var orphans = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The service; by default every service.", completion: .services)
    var service: ServiceName?

    func run() throws {
        let published = try PublishedFiles(common)
        let own = try AttachmentRow.all(in: published)
            .filter { service == nil || $0.service == service }
        if let service, own.isEmpty { try published.check(service) }
        let rows = own.filter { !orphans || $0.isOrphan }
        if json {
            say(.array(rows.map(\.json)))
        } else if rows.isEmpty {
            printError("no unit is attached")
        } else {
            let header = ["SERVICE", "UNIT", "WANTED", "ACTIVE", "SINCE", "TOOK", "PROBLEM"]
            let table = Columns(rows: [header] + rows.map(\.cells))
            for line in table.lines() { say(line) }
            for service in Set(rows.map(\.service)).sorted() {
                let gate = ShownGate(nil, published.gate(of: service), at: published.now)
                if let problem = gate.problem { say("gate of '\(service)': \(problem)") }
            }
        }
    }
}

/// An attached unit of a service. Drop-ins name the attached units, units.json has their states. A unit
/// that was attached by hand is in units.json alone.
struct AttachmentRow {
    let service: ServiceName
    let unit: String
    /// The target by its drop-in; nil without one.
    let target: String?
    /// Its object in units.json; nil if the daemon does not know it.
    let state: JSON.Object?
    /// The problem of the gate of its service, as a clause; nil without one.
    let gateProblem: String?
    /// Whether the service is not configured.
    let isOrphan: Bool

    /// The cells of its row in the table.
    var cells: [String] {
        let wanted = state?["wanted"]?.bool.map { $0 ? "up" : "down" }
        let time = state?["took_ms"]?.number.map { "\($0.literal) ms" }
        let problem = isOrphan ? "its service is not configured" : "-"
        return [
            service.text, unit, wanted ?? "-", state?["active"]?.string ?? "-",
            state?["since"]?.string ?? "-", time ?? "-", state?["problem"]?.string ?? problem,
        ]
    }

    /// The object for programs.
    var json: JSON.Value {
        var object = state ?? ["name": .string(unit)]
        object["service"] = .string(service.text)
        object["target"] = .optional(target)
        object["orphan"] = .bool(isOrphan)
        object["gate_problem"] = .optional(gateProblem)
        return .object(object)
    }

    /// All of them, by service and name: reads the drop-ins and the files of the daemon. Without a daemon,
    /// the drop-ins are shown.
    static func all(in published: PublishedFiles) throws -> [AttachmentRow] {
        let configured = Set(try published.servicesIfAny())
        let attached = try AttachmentFiles.all()
        return try configured.union(attached.map(\.service)).sorted().flatMap { service in
            let states = try published.units(of: service)
            let own = attached.filter { $0.service == service }
            let named = own.map { (unit: $0.unit.text, target: Optional($0.target.name)) }
            let others = states.compactMap { $0["name"]?.string }
                .filter { unit in !named.contains { $0.unit == unit } }
                .map { (unit: $0, target: String?.none) }
            return (named + others).map { unit, target in
                AttachmentRow(
                    service: service, unit: unit, target: target,
                    state: states.first { $0["name"]?.string == unit },
                    gateProblem: published.gate(of: service)?.problem,
                    isOrphan: !configured.contains(service))
            }
        }
    }
}

extension PublishedFiles {
    /// The objects of units.json; none if the daemon does not move gates.
    func units(of service: ServiceName) throws -> [JSON.Object] {
        let bytes: [UInt8]
        do {
            bytes = try File.read("\(directory)/\(service)/\(FileName.units)", limit: 16 << 20)
        } catch {
            guard error.isNotFound else { throw error }
            return []
        }
        do { return try (JSON.Value.parse(bytes).array ?? []).compactMap(\.object) } catch {
            return []
        }
    }
}
