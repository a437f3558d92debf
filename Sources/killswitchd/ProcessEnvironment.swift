import CivilTime
import Configuration
import Files
import FlagSources
import Glibc
import Storage

extension Host {
    /// The host of this process; facts that are unknown are nil.
    static var ofThisProcess: Host {
        let release = OSRelease.ofThisSystem
        return Host(
            machineID: HostIdentity.machineID, name: HostIdentity.name,
            system: release["ID"], systemVersion: release["VERSION_ID"])
    }
}

/// The fields of os-release(5) that identify the system.
struct OSRelease {
    private var fields: [String: String] = [:]

    /// Reads lines `NAME=value`, with or without quotes around the value. Other quoting of shells is not
    /// undone: identifiers have none.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            guard let sign = line.firstIndex(of: "=") else { continue }
            var value = line[line.index(after: sign)...]
            for quote in ["\"", "'"] where value.count > 1 && value.hasPrefix(quote) {
                guard value.hasSuffix(quote) else { continue }
                value = value.dropFirst().dropLast()
            }
            fields[String(line[..<sign])] = String(value)
        }
    }

    /// The value of a field; nil without it.
    subscript(_ name: String) -> String? { fields[name] }

    /// The fields of this system; empty if it has no such file.
    static var ofThisSystem: OSRelease {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            guard
                case .success(let bytes) = Result(catching: { try File.read(path, limit: 64 << 10) }
                )
            else { continue }
            return OSRelease(String(decoding: bytes, as: UTF8.self))
        }
        return OSRelease("")
    }
}

extension HostEnvironment {
    /// The credentials and directories of this process for its sources, and the names that they
    /// send.
    static func ofThisProcess(
        stateDirectory: String, runtimeDirectory: String,
        credentialsDirectory: String? = environmentVariable("CREDENTIALS_DIRECTORY")
    ) -> HostEnvironment {
        HostEnvironment(
            credentialsDirectory: credentialsDirectory, user: geteuid(),
            userAgent: "killswitchd/\(ProgramVersion.current)", host: .ofThisProcess,
            stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory,
            metadataHost: environmentVariable("GCE_METADATA_HOST"), zone: { localZone })
    }

    /// The time zone of the system; nil if it cannot be read.
    static var localZone: Zone? {
        do { return try ZoneFiles.system() } catch { return nil }
    }
}

/// An instant that is certainly past, without asking the clock: the later of the build of this program
/// and the time that systemd saved last (systemd-timesyncd(8)).
enum ClockFloor {
    /// The instant.
    static var instant: Instant {
        [
            "/proc/self/exe", "/var/lib/systemd/timesync/clock", "/usr/lib/clock-epoch",
        ].compactMap(modified).max() ?? Instant(seconds: 0)
    }

    private static func modified(_ path: String) -> Instant? {
        do {
            return Instant(microseconds: try File.modificationTime(of: path))
        } catch {
            return nil
        }
    }
}

/// The value of an environment variable of this process; nil if it is not set.
func environmentVariable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
