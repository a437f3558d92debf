package import CivilTime
import Records
package import Settings

/// The zones of the system, for the settings.
package struct SystemZones: Zones {
    package init() {}

    package func systemZone() throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.system()
        } catch {
            throw .unreadable(cause: "\(error)")
        }
    }

    package var names: [String] { ZoneFiles.names() }

    package func zone(named name: String) throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.zone(named: name)
        } catch {
            guard ZoneFiles.exists(name) else { throw .unknown }
            throw .unreadable(cause: "\(error)")
        }
    }
}
