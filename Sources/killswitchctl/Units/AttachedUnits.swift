import Decision
import Files
import JSON
import Records

/// The attached units as the files of both sides tell: drop-ins say what is attached, units.json how
/// it stands. A unit that was attached by hand is in the latter alone.
struct AttachedUnits {
    /// One unit of one service.
    struct Row {
        let service: ServiceName
        let unit: String
        let target: String?
        /// Its object in units.json; nil where the daemon does not know of it.
        let state: JSON.Object?
        /// Whether its service is not configured.
        let isOrphan: Bool

        var json: JSON.Value {
            var object = state ?? ["name": .string(unit)]
            object["service"] = .string(service.text)
            object["target"] = target.map { .string($0) } ?? .null
            object["orphan"] = .bool(isOrphan)
            return .object(object)
        }
    }

    let rows: [Row]

    init(in published: Published) throws(CommandFailure) {
        var rows: [Row] = []
        var configured: Set<ServiceName> = []
        do {
            configured = Set(try published.services())
        } catch  where error.status == .unreachable {
            // Without a daemon there are the drop-ins.
        }
        let attached = try Self.attachments()
        for service in configured.union(attached.map(\.service)).sorted() {
            let states = try published.units(of: service)
            let own = attached.filter { $0.service == service }
            for attachment in own {
                rows.append(
                    Row(
                        service: service, unit: attachment.unit.text,
                        target: attachment.target.unit?.text,
                        state: states.first { $0["name"]?.string == attachment.unit.text },
                        isOrphan: !configured.contains(service)))
            }
            for state in states {
                guard let name = state["name"]?.string,
                    !own.contains(where: { $0.unit.text == name })
                else { continue }
                rows.append(
                    Row(
                        service: service, unit: name, target: nil, state: state,
                        isOrphan: !configured.contains(service)))
            }
        }
        self.rows = rows
    }

    private static func attachments() throws(CommandFailure) -> [Attachment] {
        do {
            return try UnitDirectory.system.attachments()
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }
}

extension Published {
    /// The objects of units.json; none where the daemon does not move gates.
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
