import Files
import Glibc
import RemoteFlags

extension Host {
    /// What this process runs on, as far as it is known.
    static var ofThisProcess: Host {
        let release = OSRelease.ofThisSystem
        return Host(
            machineID: Files.machineID(forApplication: application), name: hostName,
            system: release["ID"], systemVersion: release["VERSION_ID"])
    }

    /// The id of killswitchd among applications, as it is documented.
    private static let application = "daf4e554f9424c82ac87d3520d749471"

    private static var hostName: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }
}
