import Files
import Settings

/// A configuration that can be run, and the files that it is made of.
struct Configuration {
    let files: ConfigurationFiles
    let settings: Settings

    /// Reads and checks what is on disk.
    init(reading places: ConfigurationPlaces) throws(ConfigurationError) {
        do {
            try self.init(ConfigurationFiles(reading: places))
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// Checks files that were read earlier.
    init(_ files: ConfigurationFiles) throws(ConfigurationError) {
        do {
            self.files = files
            settings = try files.settings(SystemZones())
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// What its author should know, a line each.
    var warnings: [String] {
        files.passedOver.filter(\.isWarning).map(\.description)
            + settings.warnings.map(\.description)
    }
}

/// Why there is no configuration to run: the files and lines that are wrong, or what cannot be read.
struct ConfigurationError: Error, CustomStringConvertible {
    let description: String
}
