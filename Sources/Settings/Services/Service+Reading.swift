import CivilTime
import Decision

extension Service {
    /// Reads a table `[service.NAME]`; nil after an error.
    init?(
        named member: Table.Member, from reader: TableReader, zones: some Zones,
        _ sources: inout SourceList, _ report: inout Report
    ) {
        let name = ServiceName(member.key)
        if name == nil {
            report.error(
                "bad name \(member.key.quoted) of a service: expected \(ServiceName.rule)",
                at: member.keyOrigin)
        }
        reader.refuseKeys(notIn: SwitchKey.words + ServiceKey.words, &report)
        let switches = Self.switches(from: reader, of: member.key, &sources, &report)
        let zone = reader.value(
            ServiceKey.timeZone, .zone(of: zones),
            default: Self.zone(whereUnnamedIn: reader, zones, &report), &report)
        let policy = Policy(from: reader, &report)

        guard let name, !switches.isEmpty else { return nil }
        self.init(name: name, zone: zone, switches: switches, policy: policy)
        readValues(from: reader, &report)
    }

    /// The system's zone, which is looked for only where a service needs it.
    private static func zone(
        whereUnnamedIn reader: TableReader, _ zones: some Zones, _ report: inout Report
    ) -> Zone {
        guard reader.member(ServiceKey.timeZone) == nil else { return .utc }
        do {
            return try zones.systemZone()
        } catch {
            report.error(
                "no 'time_zone' \(reader.place), and that of the system \(error.clause)",
                at: reader.origin)
            return .utc
        }
    }

    /// The switches in whichever of the two forms is used; fewer after an error.
    private static func switches(
        from reader: TableReader, of service: String, _ sources: inout SourceList,
        _ report: inout Report
    ) -> [Switch] {
        let short = SwitchKey.allCases.compactMap(reader.member)
        guard let list = reader.member(ServiceKey.switches) else {
            guard !short.isEmpty else {
                report.error(
                    "no switch \(reader.place): add the keys 'source' and 'format'",
                    at: reader.origin)
                return []
            }
            return [Switch(from: reader, of: service, &sources, &report)].compactMap(\.self)
        }
        if let key = short.first?.key {
            report.error(
                "both '\(key)' and 'switch' \(reader.place): keep one of the two forms",
                at: list.node.origin)
        }
        return entries(of: list, in: reader, &report).compactMap {
            Switch(from: $0, of: service, &sources, &report)
        }
    }

    /// A reader for each `[[service.NAME.switch]]`.
    private static func entries(
        of list: Table.Member, in reader: TableReader, _ report: inout Report
    ) -> [TableReader] {
        let header = "[[\(reader.path).switch]]"
        let type = "an array of tables \(header)"
        guard case .array(let elements) = list.node.value else {
            reader.refuse(list, .wrongType(), expecting: type, &report)
            return []
        }
        if elements.isEmpty {
            report.error(
                "no switch \(reader.place): add a table \(header)", at: list.node.origin)
        }
        return elements.enumerated().compactMap { index, element in
            guard case .table(let table) = element.value else {
                var wrong = list
                wrong.node = element
                reader.refuse(wrong, .wrongType(), expecting: type, &report)
                return nil
            }
            let entry = TableReader(
                path: "\(reader.path).switch[\(index)]", place: "in \(header)", table: table,
                origin: element.origin)
            entry.refuseKeys(notIn: SwitchKey.words, &report)
            return entry
        }
    }
}
