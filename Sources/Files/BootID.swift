/// The kernel's name for this boot, a UUID in lower case that the next boot does not have:
/// `/proc/sys/kernel/random/boot_id` of random(4).
///
/// Throws where procfs is hidden (`ProcSubset=pid` hides this file), or what it holds is no UUID.
package func bootID() throws(FileError) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    var bytes = try File.read(path, limit: 64)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard isUUID(bytes) else { throw FileError("read", path, .malformed) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Whether these are the 36 characters of RFC 9562 §4: hexadecimal digits in five groups.
private func isUUID(_ bytes: [UInt8]) -> Bool {
    let hyphens = [8, 13, 18, 23]
    return bytes.count == 36
        && bytes.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "-"): hyphens.contains(index)
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                !hyphens.contains(index)
            default: false
            }
        }
}
