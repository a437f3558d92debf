import CSystemd

/// The kernel's name for this boot, a UUID in lower case that the next boot does not have:
/// `/proc/sys/kernel/random/boot_id` of random(4).
///
/// Throws if procfs is hidden (`ProcSubset=pid` hides this file), or the file holds no UUID.
package func bootID() throws(FileError) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    var bytes = try File.read(path, limit: 64)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard isUUID(bytes) else { throw FileError("read", path, .malformed) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Whether these are the 36 characters of RFC 9562 §4: hexadecimal digits in five groups.
private func isUUID(_ bytes: [UInt8]) -> Bool {
    let groups = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
        && groups.joined().allSatisfy("0123456789abcdef".utf8.contains)
}

/// The id of this machine for one application: 32 hexadecimal digits, stable until the system is installed anew. The id
/// in `/etc/machine-id`, which has to stay on the host, cannot be computed from it. Nil if the machine has no id.
package func machineID(forApplication application: String) -> String? {
    var (key, id) = (sd_id128_t(), sd_id128_t())
    guard unsafe sd_id128_from_string(application, &key) == 0,
        unsafe sd_id128_get_machine_app_specific(key, &id) == 0
    else { return nil }
    var text = [CChar](repeating: 0, count: 33)
    guard unsafe sd_id128_to_string(id, &text) != nil else { return nil }
    return String(decoding: text.prefix(32).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
}
