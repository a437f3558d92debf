import Glibc

/// What shows that a file which was read is still the same and unchanged, without reading it again.
///
/// The daemon reads most files whole each time. This is for the two where that costs too much: the list of signers,
/// whose documents are verified again, and the groups, at each connection. Size and time of modification show nothing:
/// ostree, Nix and `rsync -t` give a new file those of the old one. The time of the last change of status can be set by
/// nobody, and another file has another inode. A link is followed.
package struct FileStamp: Sendable {
    /// A change in the same tick of the kernel's clock as the one before leaves all times as they are, so that a
    /// stamp shows nothing before the file has rested for so many seconds.
    private static let rest = 2

    /// The device, the inode, the size and both times; nil for a file that cannot be examined.
    private let identity: [Int]?
    /// Whether a later change would be seen.
    private let hasRested: Bool

    /// The stamp of the file at a path as it is now. Make it before the file is read.
    package init(of path: String) {
        var (status, time) = (stat(), timespec())
        guard unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time) == 0,
            unsafe stat(path, &status) == 0
        else {
            (identity, hasRested) = (nil, false)
            return
        }
        identity = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
            status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
        hasRested = time.tv_sec - status.st_ctim.tv_sec >= Self.rest
    }

    /// Whether the file is surely the one that was read after the earlier stamp was made.
    package func shows(unchangedSince earlier: FileStamp) -> Bool {
        identity != nil && identity == earlier.identity && earlier.hasRested
    }
}
