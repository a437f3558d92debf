import CivilTime
import Testing

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
        try Zone(name: name, tzif: contents(of: "\(folder)/\(name)"))
    }
}

/// Where Debian's package tzdata puts the compiled zones.
let systemZones = "/usr/share/zoneinfo"

/// SplitMix64: the same numbers in every run.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
