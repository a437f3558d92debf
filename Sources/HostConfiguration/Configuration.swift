import Records
package import Settings

/// A configuration that can be run, and its files.
package struct Configuration {
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
