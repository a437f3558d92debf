package import Decision
package import Files
package import Gates
import JSON

/// The drop-in of the configuration in which `killswitchctl attach` keeps the units that it attaches: one table,
/// `[attached]`. The command writes the file as a whole, so that it has nothing else.
package struct AttachedFile {
    package static let path = "\(folder)/attached.toml"
    private static let folder = "/etc/killswitchd/conf.d"

    package private(set) var units: [ServiceName: [ConfiguredUnit]] = [:]

    /// Reads the file; it lists nothing if it is not there. Throws if somebody has written something else in it.
    package init() throws {
        guard let bytes = try File.ifThere(File.read(Self.path, limit: Table.largestFile)) else {
            return
        }
        let report = Diagnostics()
        let table: Table
        do { table = try Table(toml: bytes, file: Self.path) } catch {
            throw ConfigurationError(description: "\(error)")
        }
        let root = TableDecoder(
            path: "", place: "at the top level", table: table, origin: Origin(file: Self.path),
            report: report)
        for member in table.members where !member.key.hasSameBytes(as: RootKey.attached.rawValue) {
            report.error(
                "'killswitchctl attach' writes this file, and \(member.key.shown) would be lost: write it in another",
                at: member.keyOrigin)
        }
        for (_, service, own) in root.table(RootKey.attached)?.attachedUnits() ?? [] {
            units[service] = own
        }
        if let error = ConfigurationError(report.errors) { throw error }
    }

    /// Lists a unit, in place of another item of the same unit.
    package mutating func add(_ unit: ConfiguredUnit, to service: ServiceName) {
        _ = remove(unit.name, from: service)
        units[service, default: []].append(unit)
    }

    /// Lists a unit no longer. Returns whether it was listed.
    package mutating func remove(_ unit: UnitName, from service: ServiceName) -> Bool {
        let before = units[service] ?? []
        let rest = before.filter { $0.name != unit }
        units[service] = rest.isEmpty ? nil : rest
        return rest.count < before.count
    }

    package var text: String {
        """
        # The units that 'killswitchctl attach' has attached. It writes this file as a whole, and so does 'detach'.
        [attached]

        """
            + units.sorted { $0.key < $1.key }.map { service, units in
                let items = units.map { "    \($0.toml),\n" }.joined()
                return "\(service) = [\n\(items)]\n"
            }.joined()
    }

    /// Writes the file, and removes it once it lists nothing.
    package func write() throws(FileError) {
        guard !units.isEmpty else {
            // On a read-only file system a removal fails also if nothing is there.
            if try File.exists(Self.path) { try File.remove(Self.path) }
            return
        }
        try Directory.create("/etc/killswitchd")
        try Directory.create(Self.folder)
        try File.replace(Self.path, with: Array(text.utf8), surviving: .powerLoss)
    }
}
