import CivilTime
import Records
import Settings

/// The zones of the system, for the settings.
struct SystemZones: Zones {
    func systemZone() throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.system()
        } catch {
            throw .unreadable(cause: "\(error)")
        }
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
