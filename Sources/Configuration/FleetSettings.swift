/// `[fleet]`: what `killswitchctl fleet` takes where its options are not given.
package struct FleetSettings: Hashable, Sendable {
    /// The address of a Prometheus that scrapes the hosts; nil without one.
    package let prometheus: String?
    /// The file that names the hosts; nil without one.
    package let inventory: String?

    /// Reads the table alone: a mistake elsewhere does not keep anybody from asking the fleet.
    package init(reading places: ConfigurationPlaces) throws(ConfigurationError) {
        let files: ConfigurationFiles
        do { files = try ConfigurationFiles(reading: places) } catch {
            throw ConfigurationError(description: "\(error)")
        }
        let report = Diagnostics()
        self.init(from: try TableDecoder(merging: files.contents, report))
        if let error = ConfigurationError(report.errors) { throw error }
    }

    init(from root: TableDecoder) {
        let table = root.table(RootKey.fleet)
        table?.refuseKeys(notIn: FleetKey.words)
        prometheus = table?.optional(FleetKey.prometheus, .prometheusURL)
        inventory = table?.optional(FleetKey.inventory, .inventory)
    }
}

extension ValueType where Value == String {
    fileprivate static var inventory: Self {
        .string(expected: "the path of a file") { path throws(ValueProblem) in
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw .bad("path", cause: "write the whole path, from '/'")
            }
            return path
        }
    }
}
