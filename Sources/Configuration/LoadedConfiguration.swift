package import Storage

/// A configuration that can be run, and its files.
package struct LoadedConfiguration {
    package let files: ConfigurationFiles
    package let settings: Settings
    /// The page templates that the settings name, as they were read.
    package let templates: [ConfigurationFiles.Content]

    /// Reads and checks the files on disk.
    package init(reading places: ConfigurationPlaces) throws(ConfigurationError) {
        do {
            try self.init(ConfigurationFiles(reading: places))
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// Checks files that were read earlier. Without `zones`, those of the system count.
    package init(_ files: ConfigurationFiles, zones: Zones? = nil) throws(ConfigurationError) {
        let supply = Templates(kept: files.templates)
        self.files = files
        settings = try Settings(files: files.contents, zones: zones ?? .files, templates: supply)
        templates = supply.sources
    }

    /// Checks a configuration that was accepted earlier.
    package init(_ kept: StateDirectory.KeptConfiguration) throws(ConfigurationError) {
        try self.init(ConfigurationFiles(kept.files, templates: kept.templates))
    }

    /// The form in which it is stored, for a later start with an invalid one.
    package var kept: StateDirectory.KeptConfiguration { (files.contents, templates) }

    /// The warnings for its author, one line each.
    package var warnings: [String] {
        files.skipped.filter(\.isWarning).map(\.description) + settings.warnings.map(\.description)
    }
}

extension Zones {
    fileprivate static var files: Zones {
        Zones(
            system: ZoneFiles.system,
            named: { ZoneFiles.exists($0) ? try ZoneFiles.zone(named: $0) : nil },
            names: ZoneFiles.names)
    }
}
