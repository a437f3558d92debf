package import CivilTime
import Records
package import Settings

/// The zones of the system, for the settings.
package struct SystemZones: Zones {
    /// Reads nothing yet: each zone is read when it is asked for.
    package init() {}

    /// The zone of /etc/localtime.
    package func systemZone() throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.system()
        } catch {
            throw .unreadable(cause: "\(error)")
        }
    }

    /// The names of all zone files.
    package var names: [String] { ZoneFiles.names() }

    /// The zone of an IANA name, from its file.
    package func zone(named name: String) throws(ZoneProblem) -> Zone {
        do {
            return try ZoneFiles.zone(named: name)
        } catch {
            guard ZoneFiles.exists(name) else { throw .unknown }
            throw .unreadable(cause: "\(error)")
        }
    }
}
