import Glibc

/// An exclusive lock on a file that nobody else may open, held for as long as this object lives.
///
/// It is `flock(2)`: the kernel releases it when the process ends in any way. A user who may read a file can lock
/// it, so the file has mode 0600. Beside it stands a read lock of `fcntl(2)`, which excludes nobody: by it the
/// kernel names the process. The file is open for reading alone, so that its file system can become read-only,
/// and it stays when the lock is released: a process that waited for a removed file would exclude nobody.
package final class FileLock {
    /// The lock belongs to this descriptor: closing it releases the lock.
    private let file: OpenFile

    package static let name = "daemon.lock"

    /// Takes the lock of a directory without waiting; makes the file if there is none. If another process has the lock,
    /// the error's cause is `.lockedBy`.
    package init(in directory: String) throws(FileError) {
        let flags = O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        file = try OpenFile("\(directory)/\(Self.name)", flags, mode: 0o600)
        try file.keepFromOthers(in: directory)
        try file.lock()
    }

    /// The lock of the directory that is at the path now: this one, unless somebody has deleted its file. Taking it
    /// once more would fail, as for a stranger: a lock of `flock(2)` belongs to the open file, not to the process. A
    /// file that cannot be looked at counts as this one.
    package func renewed(in directory: String) throws(FileError) -> FileLock {
        let path = "\(directory)/\(Self.name)"
        let found = readable {
            (
                try File.ifThere(File.attributes(of: path, followingLinks: false)),
                try file.attributes()
            )
        }
        guard let (there, ours) = found else { return self }
        if let there, there.device == ours.device, there.inode == ours.inode { return self }
        return try FileLock(in: directory)
    }
}

extension OpenFile {
    /// Makes sure that only the owner of the directory, and root, may open the file. A file of others is an error.
    fileprivate func keepFromOthers(in directory: String) throws(FileError) {
        let attributes = try attributes()
        guard attributes.kind == .regular else { throw FileError("lock", path, .notRegularFile) }
        let keeper = try File.attributes(of: directory).owner
        let user = geteuid()
        guard [user, keeper, 0].contains(attributes.owner) else {
            throw FileError("lock", path, .ownedBy(attributes.owner))
        }
        // A daemon that root tries by hand must not lock out the one that runs as the directory's user.
        if user == 0, attributes.owner != keeper {
            try unsafe system("change the owner of", path) { _ in
                fchown(descriptor, keeper, .max)
            }
        }
        if attributes.mode != 0o600 { try setMode(0o600) }
    }

    /// Takes the lock, and says in the kernel who has it.
    fileprivate func lock() throws(FileError) {
        do {
            try unsafe system("lock", path) { _ in flock(descriptor, LOCK_EX | LOCK_NB) }
        } catch  where error.code == EWOULDBLOCK {
            throw FileError("lock", path, .lockedBy(holder))
        }
        var mark = flock()
        mark.l_type = Int16(F_RDLCK)
        // Without it the lock holds too; its holder has no name then.
        _ = unsafe fcntl(descriptor, F_SETLK, &mark)
    }

    /// The process that has put the mark, as far as the kernel names it.
    private var holder: String {
        var mark = flock()
        mark.l_type = Int16(F_WRLCK)
        guard unsafe fcntl(descriptor, F_GETLK, &mark) == 0, mark.l_type != Int16(F_UNLCK) else {
            return "another process"
        }
        let process = mark.l_pid
        guard process > 0 else { return "a process of another container" }
        do {
            let name = try File.read("/proc/\(process)/comm", limit: 64).dropLast()
            // A process gives itself any name, also with control characters.
            let shown = name.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
            return "process \(process) (\(String(decoding: shown, as: UTF8.self)))"
        } catch {
            return "process \(process)"
        }
    }
}
