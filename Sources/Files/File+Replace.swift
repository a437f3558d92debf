import Glibc

/// The failures that a replaced file survives.
package enum Durability: Hashable, Sendable {
    /// This program is killed: enough for files that the next boot does not read. After a crash of the kernel the file
    /// may be empty.
    case programCrash
    /// Power is lost: this waits for the disk, by `fsync(2)` of the file and of the folder.
    case powerLoss
}

extension File {
    /// Puts new content under a path, atomically: a reader sees all of the old or all of the new.
    ///
    /// The bytes are written to a hidden file in the same folder, which gets the name by `rename(2)`; a link of that
    /// name is replaced, not followed. A path has one writer, so that the hidden name is fixed: a file that a crash
    /// left under it is removed, and a link or a FIFO that another user put there is never opened.
    ///
    /// When it throws, the old file is untouched and the hidden one gone. But if only the sync of the folder failed,
    /// the new content is in place and may not survive a loss of power.
    ///
    /// The folder of the path must exist. `mode` are the permission bits, whatever the umask is; a default ACL of the
    /// folder may take some. `time` is in microseconds since the epoch, and nil for the present time.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o644, modified time: Int64? = nil,
        surviving durability: Durability = .programCrash
    ) throws(FileError) {
        let (folder, name) = split(path)
        let temporary = "\(folder)/.\(name).tmp"
        do {
            try write(bytes, to: temporary, mode: mode, modified: time, durability)
            try rename(temporary, to: path)
        } catch {
            // The first error is reported; the next replacement tries this removal again.
            do { try remove(temporary) } catch {}
            throw error
        }
        if durability == .powerLoss { try Directory.synchronize(folder) }
    }

    /// Opens a regular file of exactly this size to be overwritten in place; nil if there is none.
    package static func openForOverwriting(
        _ path: String, size: Int
    ) throws(FileError) -> OpenFile? {
        do {
            let file = try OpenFile(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
            let attributes = try file.attributes()
            guard attributes.kind == .regular, attributes.size == size else { return nil }
            return file
        } catch  where error.isNotFound {
            return nil
        }
    }

    private static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32, modified time: Int64?,
        _ durability: Durability
    ) throws(FileError) {
        let file = try make(path, mode)
        try file.write(bytes)
        if mode & umask != 0 { try file.setMode(mode) }
        if let time { try file.setModificationTime(time) }
        if durability == .powerLoss { try file.synchronize() }
    }

    /// Makes the file with `O_EXCL`, which opens none that is there. One that a crash has left is removed first.
    private static func make(_ path: String, _ mode: UInt32) throws(FileError) -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do {
            return try OpenFile(path, flags, mode: mode)
        } catch  where error.code == EEXIST {
            try remove(path)
            return try OpenFile(path, flags, mode: mode)
        }
    }

    /// The permission bits that a new file does not get; all of them if that cannot be read. No program of this project
    /// changes its umask, and only reading it leaves it as it is for other threads.
    private static let umask: UInt32 = {
        let status = readable { try read("/proc/self/status", limit: 1 << 16) } ?? []
        // The second line, after the name of the program.
        let line = status.split(separator: UInt8(ascii: "\n"), maxSplits: 2).dropFirst().first
        guard let line, line.starts(with: "Umask:\t".utf8) else { return 0o777 }
        return line.dropFirst(7).reduce(0) { $0 << 3 | UInt32($1 & 7) }
    }()

    /// The folder of a path, `.` for a bare name, and the last component.
    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }
}
