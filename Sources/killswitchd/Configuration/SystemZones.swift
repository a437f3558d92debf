import CivilTime
import Records
import Settings

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
