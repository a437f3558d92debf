package import Storage

/// A configuration that can be run, and its files.
package struct LoadedConfiguration {
    package let files: ConfigurationFiles
    package let settings: Settings

    /// Reads and checks the files on disk.
    package init(reading places: ConfigurationPlaces) throws(ConfigurationError) {
        do {
            try self.init(ConfigurationFiles(reading: places))
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// Checks files that were read earlier.
    package init(_ files: ConfigurationFiles) throws(ConfigurationError) {
        do {
            self.files = files
            settings = try files.settings(.files)
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// Checks a configuration that was accepted earlier.
    package init(_ kept: StateDirectory.KeptConfiguration) throws(ConfigurationError) {
        try self.init(
            ConfigurationFiles(
                kept.files.map { ($0.path, $0.bytes) },
                templates: kept.templates.map { Templates.Source(path: $0.path, bytes: $0.bytes) }))
    }

    /// The form in which it is stored, for a later start with an invalid one.
    package var kept: StateDirectory.KeptConfiguration {
        StateDirectory.KeptConfiguration(
            files.contents.map { ($0.path, $0.bytes) },
            templates: settings.templates.map { ($0.path, $0.bytes) })
    }

    /// The warnings for its author, one line each.
    package var warnings: [String] {
        files.skipped.filter(\.isWarning).map(\.description) + settings.warnings.map(\.description)
    }
}

extension Zones {
    /// The zones of the system. Each is read when it is asked for.
    fileprivate static var files: Zones {
        Zones(
            system: ZoneFiles.system,
            named: { ZoneFiles.exists($0) ? try ZoneFiles.zone(named: $0) : nil },
            names: ZoneFiles.names)
    }
}

/// Why a configuration cannot be run: its errors with file and line, or the file that cannot be read.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String
}
