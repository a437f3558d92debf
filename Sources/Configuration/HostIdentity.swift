package import Decision
import Files
import Glibc

/// What names this host, the same for both programs and after every restart.
package enum HostIdentity {
    /// The id that the host has for killswitchd alone; nil if it has no machine-id(5).
    package static var machineID: String? { Files.machineID(forApplication: application) }

    /// The host name; nil if it is unknown or no UTF-8.
    package static var name: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// What tells it from other hosts in a rollout: its machine id, else its name.
    package static var place: HostPlace { .named(machineID ?? name ?? "") }

    /// The application id of killswitchd, from which the host's own id is derived.
    private static let application = "daf4e554f9424c82ac87d3520d749471"
}
