import CivilTime
import Files

extension TimePoint where Axis == WallClock {
    /// The instant of an RFC 3339 time, which keeps tests short.
    static func at(_ text: String) throws -> Instant {
        try Instant(rfc3339: text)
    }
}

extension Zone {
    /// A zone without history that follows a TZ string.
    static func following(_ footer: String) throws -> Zone {
        try Zone(name: footer, tzif: TZifFile(footer: footer).bytes)
    }

    /// A zone of the system's time zone database.
    static func system(_ name: String, folder: String = systemZones) throws -> Zone {
        try Zone(name: name, tzif: File.read("\(folder)/\(name)", limit: 1 << 20))
    }
}

/// Where Debian's package tzdata puts the compiled zones.
let systemZones = "/usr/share/zoneinfo"
