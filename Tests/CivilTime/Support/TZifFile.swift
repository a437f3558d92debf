import CivilTime
import Files

/// The parts of a TZif file, from which a test builds valid and broken files.
struct TZifFile {
    /// NUL for version 1, else the digit.
    var version = UInt8(ascii: "2")
    /// Seconds east, one for each local time type.
    var types: [Int32] = [0]
    /// Seconds, and the local time type from then on.
    var transitions: [(Int64, UInt8)] = []
    var designations = Array("LMT\0".utf8)
    var designationIndex: UInt8 = 0
    var leapSeconds = 0
    var utIndicators = 0
    var standardIndicators = 0
    /// The TZ string without its newlines; version 1 has none.
    var footer = ""

    var bytes: [UInt8] {
        if version == 0 { return block(timeWidth: 4) }
        // A first block with nothing but a type, as `zic -b slim` writes it.
        var legacy = TZifFile()
        legacy.version = version
        return legacy.block(timeWidth: 4) + block(timeWidth: 8) + Array("\n\(footer)\n".utf8)
    }

    private func block(timeWidth: Int) -> [UInt8] {
        let counts = [
            utIndicators, standardIndicators, leapSeconds, transitions.count, types.count,
            designations.count,
        ]
        var bytes = Array("TZif".utf8) + [version] + Array(repeating: 0, count: 15)
        bytes += counts.flatMap { bigEndian(Int64($0), width: 4) }
        bytes += transitions.flatMap { bigEndian($0.0, width: timeWidth) }
        bytes += transitions.map(\.1)
        bytes += types.flatMap { bigEndian(Int64($0), width: 4) + [0, designationIndex] }
        bytes += designations
        bytes += Array(repeating: 0, count: leapSeconds * (timeWidth + 4))
        return bytes + Array(repeating: 0, count: standardIndicators + utIndicators)
    }

    private func bigEndian(_ number: Int64, width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

extension TimePoint where Axis == WallClock {
    /// The instant of an RFC 3339 time, which keeps tests short.
    static func at(_ text: String) throws -> Instant { try Instant(rfc3339: text) }
}

extension Zone {
    static func following(_ footer: String) throws -> Zone {
        try Zone(name: footer, tzif: TZifFile(footer: footer).bytes)
    }

    static func system(_ name: String, folder: String = systemZones) throws -> Zone {
        try Zone(name: name, tzif: File.read("\(folder)/\(name)", limit: 1 << 20))
    }
}

/// Where Debian's package tzdata puts the compiled zones.
let systemZones = "/usr/share/zoneinfo"
