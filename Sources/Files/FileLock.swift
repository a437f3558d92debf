import Glibc
import POSIX

/// An exclusive lock on a file that nobody else may open, held for as long as this object lives.
///
/// It is `flock(2)`: the kernel releases it when the process ends in any way. A user who may read a file can lock
/// it, so the file has mode 0600. Beside it stands a read lock of `fcntl(2)`, which excludes nobody: by it the
/// kernel names the process. The file is open for reading alone, so that its file system can become read-only,
/// and it stays when the lock is released: a process that waited for a removed file would exclude nobody.
package final class FileLock {
    /// The lock belongs to this descriptor: closing it releases the lock.
    private let file: OpenFile

    /// The name of the file.
    package static let name = "daemon.lock"

    /// Takes the lock of a directory without waiting, on a file of this name in it; makes the file if there
    /// is none. If another process has the lock, the error's cause is `.lockedBy`.
    package init(in directory: String, name: String = FileLock.name) throws(FileError) {
        let flags = O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        file = try OpenFile("\(directory)/\(name)", flags, mode: 0o600)
        try file.keepFromOthers(in: directory)
        try file.lock()
    }
}

extension OpenFile {
    /// Makes sure that only the owner of the directory, and root, may open the file. One that somebody else
    /// made is an error: they may hold it open.
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
            try unsafe system("lock", path) { _ in flock(descriptor, LOCK_EX | LOCK_NB)
            }
        } catch  where error.code == EWOULDBLOCK {
            throw FileError("lock", path, .lockedBy(holder))
        }
        var mark = flock()
        mark.l_type = Int16(F_RDLCK)
        // Without it the lock holds too; its holder has no name then.
        _ = unsafe fcntl(descriptor, F_SETLK, &mark)
    }

    /// The process that has put the mark; nil if there is none.
    private var holder: FileError.Process? {
        var mark = flock()
        mark.l_type = Int16(F_WRLCK)
        guard unsafe fcntl(descriptor, F_GETLK, &mark) == 0, mark.l_type != Int16(F_UNLCK) else {
            return nil
        }
        return FileError.Process(mark.l_pid)
    }
}

extension FileError {
    /// A process of this host, for an error.
    package struct Process: Hashable, Sendable {
        /// Its ID; nil if it is in another container.
        package let identifier: Int32?
        /// The name of its program; nil if this user may not see it.
        package let program: String?

        /// The process of this ID as the kernel gives it: 0 or less if it is not visible here.
        init(_ identifier: Int32) {
            self.identifier = identifier > 0 ? identifier : nil
            let name = Result { () throws(FileError) in
                try File.read("/proc/\(identifier)/comm", limit: 64)
            }
            // A process gives itself any name, also with control characters.
            let shown = (UInt8(ascii: " ")...UInt8(ascii: "~"))
            program =
                if case .success(let bytes) = name {
                    String(decoding: bytes.dropLast().map { shown ~= $0 ? $0 : 63 }, as: UTF8.self)
                } else { nil }
        }
    }
}

extension FileError.Process: CustomStringConvertible {
    package var description: String {
        guard let identifier else { return "a process of another container" }
        guard let program else { return "process \(identifier)" }
        return "process \(identifier) (\(program))"
    }
}
