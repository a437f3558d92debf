import Glibc

/// Operations on a directory by its path.
package enum Directory {
    /// Makes the directory, and the directories above it that are missing. A directory that is
    /// there keeps its mode; each new directory gets these permission bits, whatever the umask is.
    package static func create(_ path: String, mode: UInt32 = 0o755) throws(FileError) {
        do {
            try make(path, mode: mode)
        } catch  where error.code == ENOENT {
            guard let parent = parent(of: path) else { throw error }
            try create(parent, mode: mode)
            try make(path, mode: mode)
        }
    }

    /// Removes an empty directory; a missing directory is no error.
    package static func remove(_ path: String) throws(FileError) {
        do {
            try unsafe system("remove", path) { unsafe rmdir($0) }
        } catch  where error.code == ENOENT {}
    }

    /// The names in it without `.` and `..`, in the order of their bytes, which is the same in
    /// every locale. In a name that is not UTF-8 bytes are replaced, so that no file can be opened
    /// by it.
    package static func list(_ path: String) throws(FileError) -> [String] {
        try refuseNUL("list", path)
        guard let stream = unsafe opendir(path) else {
            throw FileError("list", path, .system(errno))
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // A null pointer is the end or an error: only `errno` tells them apart.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw FileError("list", path, .system(errno)) }
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Returns once the names in it are on stable storage: a file that was renamed into it keeps
    /// its name over a loss of power.
    package static func synchronize(_ path: String) throws(FileError) {
        try OpenFile(path.isEmpty ? "/" : path, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Makes the directory of the last component only.
    private static func make(_ path: String, mode: UInt32) throws(FileError) {
        do {
            try unsafe system("create", path) { unsafe mkdir($0, mode) }
        } catch  where error.code == EEXIST {
            guard try File.attributes(of: path).kind == .directory else { throw error }
            return
        }
        try unsafe system("change the mode of", path) { unsafe chmod($0, mode) }
    }

    /// The path without its last component and the slashes around that; nil if nothing is left.
    private static func parent(of path: String) -> String? {
        var rest = path.utf8[...]
        let slash = UInt8(ascii: "/")
        while rest.last == slash { rest.removeLast() }
        guard let last = rest.lastIndex(of: slash) else { return nil }
        rest = rest[..<last]
        while rest.last == slash { rest.removeLast() }
        return rest.isEmpty ? nil : String(Substring(rest))
    }
}

/// An exclusive lock on a directory, held for as long as this object lives.
///
/// It is `flock(2)` on a descriptor of the directory: no lock file can be left behind, and the
/// kernel releases the lock when the process ends in any way. It excludes only processes that ask
/// for the lock.
package final class DirectoryLock {
    /// The lock belongs to this descriptor: closing it releases the lock.
    private let directory: OpenFile

    /// Takes the lock without waiting. If another process has it, the error's cause is
    /// `.lockedByAnother`.
    package init(_ path: String) throws(FileError) {
        directory = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        do {
            try unsafe system("lock", path) { [descriptor = directory.descriptor] _ in
                flock(descriptor, LOCK_EX | LOCK_NB)
            }
        } catch  where error.code == EWOULDBLOCK {
            throw FileError("lock", path, .lockedByAnother)
        }
    }
}
