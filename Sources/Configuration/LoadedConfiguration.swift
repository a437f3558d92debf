package import Storage

/// A configuration that can be run, and its files.
package struct LoadedConfiguration {
    package let files: ConfigurationFiles
    package let settings: Settings
    /// The page templates that the settings name, as they were read.
    package let templates: [ConfigurationFiles.Content]

    /// The data of the time zones that the settings need, as far as it is known.
    private let zones: [StateDirectory.StoredZone]

    /// Reads and checks the files on disk, with the `zones` of this system.
    package init(
        reading places: ConfigurationPlaces, zones: Zones? = nil
    ) throws(ConfigurationError) {
        do {
            try self.init(ConfigurationFiles(reading: places), zones: zones)
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }

    /// Checks files that were read earlier. Without `zones`, those of the system count.
    package init(_ files: ConfigurationFiles, zones: Zones? = nil) throws(ConfigurationError) {
        let supply = Templates(kept: files.templates)
        let zones = zones ?? .ofThisSystem()
        self.files = files
        settings = try Settings(files: files.contents, zones: zones, templates: supply)
        templates = supply.sources
        self.zones = zones.data
    }

    /// Checks a configuration that was accepted earlier.
    package init(_ kept: StateDirectory.KeptConfiguration) throws(ConfigurationError) {
        try self.init(
            ConfigurationFiles(kept.files, templates: kept.templates),
            zones: .ofThisSystem(stored: { kept.zones }, wasAccepted: true))
    }

    /// The form in which it is stored, for a later start with an invalid one.
    package var kept: StateDirectory.KeptConfiguration { (files.contents, templates, zones) }

    /// The warnings for its author, one line each.
    package var warnings: [String] {
        files.skipped.filter(\.isWarning).map(\.description) + settings.warnings.map(\.description)
    }
}

extension Zones {
    /// The zones of this system. Where a file cannot be read, the `stored` data counts.
    package static func ofThisSystem(
        stored: @escaping () -> [StateDirectory.StoredZone] = { [] }, wasAccepted: Bool = false
    ) -> Zones {
        var files = Files(
            system: ZoneFiles.system,
            named: { ZoneFiles.exists($0) ? try ZoneFiles.content(named: $0) : nil },
            names: ZoneFiles.names)
        files.package = { name in
            name.map(ZoneFiles.missingPackage) ?? ZoneFiles.missingPackageForSystem()
        }
        return Zones(files, stored: stored, wasAccepted: wasAccepted)
    }

    /// The zones of this system for a command that another program has checked the configuration for.
    package static var checkedElsewhere: Zones { .ofThisSystem(wasAccepted: true) }
}
