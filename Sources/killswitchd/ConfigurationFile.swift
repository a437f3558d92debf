import CivilTime
import Files
import Records
import Settings

/// The configuration on disk.
enum ConfigurationFile {
    /// The most that a configuration file may hold.
    static let sizeLimit = 1 << 20

    static func load(_ path: String) throws(ConfigurationError) -> Settings {
        do {
            let bytes = try File.read(path, limit: sizeLimit)
            // Paths in the file begin in its folder, and watches need them from the root.
            let file = try File.absolute(path)
            return try Settings.load(files: [(file, bytes)], zones: SystemZones())
        } catch {
            throw ConfigurationError(description: "\(error)")
        }
    }
}

/// Why there is no configuration to run: the files and lines that are wrong, or what cannot be read.
struct ConfigurationError: Error, CustomStringConvertible {
    let description: String
}

/// The zones of the system, for the settings.
struct SystemZones: Zones {
    let systemZone: Zone

    init() throws {
        systemZone = try ZoneFiles.system()
    }

    var names: [String] { ZoneFiles.names() }

    func zone(named name: String) throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.zone(named: name)
        } catch {
            guard ZoneFiles.exists(name) else { throw .unknown }
            throw .unreadable(cause: "\(error)")
        }
    }
}
