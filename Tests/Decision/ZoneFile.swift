import CivilTime
import Glibc

/// A zone of the system's zoneinfo.
func zone(_ name: String) throws -> Zone {
    var bytes: [UInt8] = []
    let file = unsafe fopen("/usr/share/zoneinfo/\(name)", "rb")
    guard let file = unsafe file else { throw ZoneMissing(name: name) }
    defer { unsafe fclose(file) }
    while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return try Zone(name: name, tzif: bytes)
}

struct ZoneMissing: Error {
    let name: String
}
