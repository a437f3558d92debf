import ArgumentParser
import Decision
import Files
import JSON
import Records

/// `killswitchctl units [SERVICE]`
struct Units: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the attached systemd units, and whether each is as it should be.",
        discussion: """
            WANTED is the state that the gate wants a unit in; a dash means that the gate only \
            permits the unit. TOOK is how long its last stop or start took, counted from the move \
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
        let own = try AttachedUnits(in: published).rows
            .filter { service == nil || $0.service == service }
        if let service, own.isEmpty { try published.check(service) }
        let rows = own.filter { !orphans || $0.isOrphan }
        if json {
            print(JSON.Value.array(rows.map(\.json)).serialized(.pretty))
        } else if rows.isEmpty {
            printError("killswitchctl: no unit is attached")
        } else {
            print(UnitTable(rows: rows).text)
        }
    }
}

/// The attached units: drop-ins name the attached units, units.json has their states. A unit that
/// was attached by hand is in units.json alone.
struct AttachedUnits {
    /// One unit of one service.
    struct Row {
        let service: ServiceName
        let unit: String
        /// The target by its drop-in; nil without one.
        let target: String?
        /// Its object in units.json; nil if the daemon does not know it.
        let state: JSON.Object?
        /// Whether the service is not configured.
        let isOrphan: Bool

        /// The object for programs.
        var json: JSON.Value {
            var object = state ?? ["name": .string(unit)]
            object["service"] = .string(service.text)
            object["target"] = .optional(target)
            object["orphan"] = .bool(isOrphan)
            return .object(object)
        }
    }

    /// The units, by service and name.
    let rows: [Row]

    /// Reads the drop-ins and the files of the daemon.
    init(in published: PublishedFiles) throws(CommandFailure) {
        var rows: [Row] = []
        var configured: Set<ServiceName> = []
        do {
            configured = Set(try published.services())
        } catch  where error.status == .unreachable {
            // Without a daemon, the drop-ins are shown.
        }
        let attached = try orFail { try UnitDirectory.system.attachments() }
        for service in configured.union(attached.map(\.service)).sorted() {
            let states = try published.units(of: service)
            let own = attached.filter { $0.service == service }
            let add = { (unit: String, target: String?, state: JSON.Object?) in
                rows.append(
                    Row(
                        service: service, unit: unit, target: target, state: state,
                        isOrphan: !configured.contains(service)))
            }
            for attachment in own {
                let unit = attachment.unit.text
                add(unit, attachment.target.name, states.first { $0["name"]?.string == unit })
            }
            for state in states {
                guard let unit = state["name"]?.string,
                    !own.contains(where: { $0.unit.text == unit })
                else { continue }
                add(unit, nil, state)
            }
        }
        self.rows = rows
    }
}

extension PublishedFiles {
    /// The objects of units.json; none if the daemon does not move gates.
    func units(of service: ServiceName) throws(CommandFailure) -> [JSON.Object] {
        do {
            let bytes = try File.read("\(directory)/\(service)/\(FileName.units)", limit: 16 << 20)
            guard
                case .success(.array(let units)) = Result(catching: { try JSON.Value.parse(bytes) })
            else { return [] }
            return units.compactMap(\.object)
        } catch  where error.isNotFound {
            return []
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }
}

/// The table of `units`.
struct UnitTable {
    let rows: [AttachedUnits.Row]

    /// All lines, without a line feed at the end.
    var text: String {
        let header = ["SERVICE", "UNIT", "WANTED", "ACTIVE", "SINCE", "TOOK", "PROBLEM"]
        return Columns(rows: [header] + rows.map(cells)).text
    }

    private func cells(_ row: AttachedUnits.Row) -> [String] {
        let wanted =
            switch row.state?["wanted"] {
            case .bool(true): "up"
            case .bool(false): "down"
            default: "-"
            }
        return [
            row.service.text, row.unit, wanted, row.state?["active"]?.string ?? "-",
            row.state?["since"]?.string ?? "-",
            row.state?["took_ms"]?.number.map { "\($0.literal) ms" } ?? "-",
            row.state?["problem"]?.string ?? (row.isOrphan ? "its service is not configured" : "-"),
        ]
    }
}
