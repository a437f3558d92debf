package import Settings

/// A configuration that can be run, and the files that it is made of.
package struct Configuration {
    package let files: ConfigurationFiles
    package let settings: Settings

    /// Reads and checks what is on disk.
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
            settings = try files.settings(SystemZones())
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// What its author should know, a line each.
    package var warnings: [String] {
        files.passedOver.filter(\.isWarning).map(\.description)
            + settings.warnings.map(\.description)
    }
}

/// Why there is no configuration to run: the files and lines that are wrong, or what cannot be read.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String
}
