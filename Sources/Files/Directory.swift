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

    /// Makes the directory with the owner of another one, whose user goes on writing there; for root.
    package static func create(_ path: String, like other: String) throws(FileError) {
        try create(path)
        let owner = try File.attributes(of: other).owner
        try unsafe system("change the owner of", path) { unsafe chown($0, owner, .max) }
    }

    /// The names in it without `.` and `..`, in the order of their bytes. In a name that is not UTF-8 bytes are
    /// replaced, so that no file can be opened by it.
    package static func list(_ path: String) throws(FileError) -> [String] {
        try OpenDirectory(path).names()
    }

    /// Returns once the names in it are on stable storage, also that of a file that was renamed into it.
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
        let slash = UInt8(ascii: "/")
        let names = path.utf8.split(separator: slash).dropLast()
        let parent =
            (path.utf8.first == slash ? "/" : "")
            + names.map { String(Substring($0)) }.joined(separator: "/")
        return names.isEmpty ? nil : parent
    }
}

/// An open directory. Files that are opened by it are its own, also if another directory has its path by then.
@safe
package struct OpenDirectory: ~Copyable {
    /// The path by which it was opened, for errors and for the paths of its files.
    package let path: String
    private let stream: OpaquePointer
    private var descriptor: Int32 { unsafe dirfd(stream) }

    /// Opens the directory. With `followingLinks` false, a link in its place is not found (`ENOTDIR`).
    package init(_ path: String, followingLinks: Bool = true) throws(FileError) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW)
        let descriptor = try unsafe system("list", path) { unsafe open($0, flags) }
        guard let stream = unsafe fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileError("list", path, .system(code))
        }
        unsafe self.stream = stream
        self.path = path
    }

    deinit { unsafe closedir(stream) }

    package func attributes() throws(FileError) -> FileAttributes {
        try unsafe FileAttributes(of: path) { unsafe fstat(descriptor, &$1) }
    }

    /// The names that were not read yet, without `.` and `..`, in the order of their bytes.
    package func names() throws(FileError) -> [String] {
        var names: [String] = []
        while let name = try next() {
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Opens a file of the directory for reading. A FIFO is never waited for.
    package func file(
        _ name: String, followingLinks: Bool = true
    ) throws(FileError) -> OpenFile {
        try OpenFile(
            reading: "\(path)/\(name)", named: name, in: descriptor, followingLinks: followingLinks)
    }

    /// Whether the name is a link with exactly this target.
    package func isLink(_ name: String, to target: String) throws(FileError) -> Bool {
        // One byte more than the target, so that a longer target differs.
        var buffer = [CChar](repeating: 0, count: target.utf8.count + 1)
        let code = unsafe name.withCString { name in
            unsafe readlinkat(descriptor, name, &buffer, buffer.count)
        }
        guard code >= 0 else {
            let failure = errno
            if failure == EINVAL { return false }
            throw FileError("read the link", "\(path)/\(name)", .system(failure))
        }
        return buffer.prefix(code).map { UInt8(truncatingIfNeeded: $0) }.elementsEqual(target.utf8)
    }

    /// The next name; nil at the end. `readdir` returns null for an error too: only `errno` tells them apart.
    private func next() throws(FileError) -> String? {
        var name: String?
        try unsafe system("list", path) { _ in
            errno = 0
            guard let entry = unsafe readdir(stream) else { return errno == 0 ? 0 : -1 }
            name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            return 0
        }
        return name
    }
}
