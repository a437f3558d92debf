import CivilTime
import Configuration
import Files
import FlagSources
import Glibc
import Requests
import Storage

extension Host {
    /// The host of this process; facts that are unknown are nil.
    static var ofThisProcess: Host {
        let release = osRelease
        return Host(
            machineID: HostIdentity.machineID, name: HostIdentity.name,
            system: release["ID"], systemVersion: release["VERSION_ID"])
    }

    /// The fields of os-release(5): lines `NAME=value`, with or without quotes around the value. Other quoting of
    /// shells is not undone: identifiers have none. Empty if this system has no such file.
    private static var osRelease: [String: String] {
        let read = { path in readable { try File.read(path, limit: 64 << 10) } }
        let bytes = read("/etc/os-release") ?? read("/usr/lib/os-release") ?? []
        var fields: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let sign = line.firstIndex(of: "=") else { continue }
            var value = line[line.index(after: sign)...]
            for quote in ["\"", "'"] where value.count > 1 && value.hasPrefix(quote) {
                guard value.hasSuffix(quote) else { continue }
                value = value.dropFirst().dropLast()
            }
            fields[String(line[..<sign])] = String(value)
        }
        return fields
    }
}

extension HostEnvironment {
    /// The credentials and the directory of this process for its sources, and the names that they send.
    static func ofThisProcess(
        stateDirectory: String,
        credentialsDirectory: String? = environmentVariable("CREDENTIALS_DIRECTORY")
    ) -> HostEnvironment {
        HostEnvironment(
            credentialsDirectory: credentialsDirectory, user: geteuid(),
            userAgent: "killswitchd/\(ProgramVersion.current)", host: .ofThisProcess,
            stateDirectory: stateDirectory,
            metadataHost: environmentVariable("GCE_METADATA_HOST"), zone: { localZone })
    }

    /// The time zone of the system; one of which nothing is known if it cannot be read.
    static var localZone: Zone { ZoneFiles.local }
}

extension Instant {
    /// An instant that is certainly past, without asking the clock: the later of the build of this program
    /// and the time that systemd saved last (systemd-timesyncd(8)).
    static var clockFloor: Instant {
        let files = ["/proc/self/exe", "/var/lib/systemd/timesync/clock", "/usr/lib/clock-epoch"]
        let times = files.compactMap { file in readable { try File.modificationTime(of: file) } }
        return Instant(microseconds: times.max() ?? 0)
    }
}

/// The value of an environment variable of this process; nil if it is not set.
func environmentVariable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
