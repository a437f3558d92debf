import Glibc

/// What a replaced file must outlive.
package enum Durability: Hashable, Sendable {
    /// The end of this program, however sudden: for files that the next boot does not read.
    case programCrash
    /// The loss of power as well, at the price of one more `fsync(2)`, on the folder.
    case powerLoss
}

extension File {
    /// Puts new content under a path, atomically: a reader sees all of the old or all of the new.
    ///
    /// The bytes go to a hidden file in the same folder, are synced, and take the name by
    /// `rename(2)`; a link of that name is replaced, not followed. There is one writer to a path,
    /// so the hidden name is a fixed one: what a crash left under it is thrown away, and whatever
    /// somebody else put there (a link, a FIFO) is never opened.
    ///
    /// When it throws, the old file is untouched and the hidden one gone, with one exception: if
    /// only the sync of the folder failed, the new content is in place but may not survive a loss
    /// of power.
    ///
    /// - Parameters:
    ///   - path: The file to replace or make; its folder must exist.
    ///   - bytes: The whole content.
    ///   - mode: The permission bits, whatever the umask is.
    ///   - durability: What the new content must survive.
    /// - Throws: What the kernel said to the first step that failed.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o644,
        surviving durability: Durability = .programCrash
    ) throws(FileError) {
        let (folder, name) = split(path)
        let temporary = "\(folder)/.\(name).tmp"
        do {
            try write(bytes, to: temporary, mode: mode)
            try rename(temporary, to: path)
        } catch {
            discard(temporary)
            throw error
        }
        if durability == .powerLoss { try Directory.synchronize(folder) }
    }

    private static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32
    ) throws(FileError) {
        let file = try make(path)
        try file.write(bytes)
        try file.setMode(mode)
        try file.synchronize()
    }

    /// `O_EXCL` makes the file or fails: it opens nothing that is there, not even through a link. What
    /// a crash has left under that name goes first.
    private static func make(_ path: String) throws(FileError) -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do {
            return try OpenFile(path, flags, mode: 0o600)
        } catch  where error.code == EEXIST {
            try remove(path)
            return try OpenFile(path, flags, mode: 0o600)
        }
    }

    /// Removes the half-made file. The caller has an error to report already, and this one's would
    /// say the same less clearly; the next replacement tries the removal again.
    private static func discard(_ temporary: String) {
        do { try remove(temporary) } catch {}
    }

    /// The folder of a path, `.` for a bare name, and the last component.
    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }
}
