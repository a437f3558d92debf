import Glibc

/// What `stat(2)` tells about a file.
package struct FileAttributes: Hashable, Sendable {
    /// What is there under the name.
    package enum Kind: Hashable, Sendable {
        case regular
        case directory
        case symbolicLink
        /// A FIFO, a socket, a block or a character device.
        case special
    }

    package let kind: Kind
    /// The permission bits with set-user-ID, set-group-ID and sticky: `mode & 0o7777`.
    package let mode: UInt32
    /// The user ID of the owner.
    package let owner: UInt32
    /// The group ID of the owner.
    package let group: UInt32
    /// In bytes; 0 for most files of procfs, which have content nevertheless.
    package let size: Int
    /// Microseconds since 1970-01-01T00:00:00Z. What does not fit is as far away as does: whoever may
    /// write a file may give it any time (`tmpfs` takes 64 bits of seconds).
    package let modificationTime: Int64

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .special
            }
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        size = status.st_size
        modificationTime = Self.microseconds(
            Int64(status.st_mtim.tv_sec), and: Int64(status.st_mtim.tv_nsec))
    }

    private static func microseconds(_ seconds: Int64, and nanoseconds: Int64) -> Int64 {
        let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isFarther) = whole.addingReportingOverflow(nanoseconds / 1_000)
        guard isFar || isFarther else { return sum }
        return seconds < 0 ? .min : .max
    }
}
