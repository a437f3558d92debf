import Glibc

/// Operations on a file by its path. Links are followed unless a function says otherwise.
package enum File {
    /// The whole content of a regular file. A FIFO, a device, a socket, and more than `limit` bytes are errors.
    package static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        try OpenFile(reading: path, named: path, in: AT_FDCWD).content(limit: limit)
    }

    /// The whole content of a regular file, and the attributes of that same file. For a secret,
    /// whose owner and mode matter, and which must not be swapped between the check and the read.
    package static func readWithAttributes(
        _ path: String, limit: Int
    ) throws(FileError) -> (bytes: [UInt8], attributes: FileAttributes) {
        let file = try OpenFile(reading: path, named: path, in: AT_FDCWD)
        let attributes = try file.attributes()
        return (try file.content(limit: limit), attributes)
    }

    /// Reads a file of a folder that another user may write: no link is followed, neither at the file nor, unless it is
    /// trusted, at the folder.
    package static func read(
        _ name: String, of folder: String, isTrusted: Bool = false, limit: Int
    ) throws(FileError) -> [UInt8] {
        let directory = try OpenDirectory(folder, followingLinks: isTrusted)
        return try directory.file(name, followingLinks: false).content(limit: limit)
    }

    /// The result of `stat(2)`; with `followingLinks` false, that of the link itself.
    package static func attributes(
        of path: String, followingLinks: Bool = true
    ) throws(FileError) -> FileAttributes {
        try unsafe FileAttributes(of: path) {
            unsafe followingLinks ? stat($0, &$1) : lstat($0, &$1)
        }
    }

    /// Whether the path leads to a file of any kind; false for a link that leads nowhere.
    package static func exists(_ path: String) throws(FileError) -> Bool {
        try ifThere(attributes(of: path)) != nil
    }

    /// What `read` returns; nil if its file is not there.
    package static func ifThere<Value>(
        _ read: @autoclosure () throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        do { return try read() } catch  where error.isNotFound { return nil }
    }

    /// When the content was last changed, in microseconds since 1970-01-01T00:00:00Z.
    package static func modificationTime(of path: String) throws(FileError) -> Int64 {
        try attributes(of: path).modificationTime
    }

    /// Removes the file, or a link and not its target; a missing file is no error.
    package static func remove(_ path: String) throws(FileError) {
        do {
            try unsafe system("remove", path) { unsafe unlink($0) }
        } catch  where error.code == ENOENT {}
    }

    /// Gives the file another name on the same file system, atomically. A file that had the new name is gone.
    package static func rename(_ path: String, to newPath: String) throws(FileError) {
        try refuseNUL("rename to", newPath)
        try unsafe system("rename", path) { old in
            unsafe newPath.withCString { new in unsafe Glibc.rename(old, new) }
        }
    }

    /// Sets the modification time, in microseconds, by default now; makes an empty file (0644) if there is none.
    package static func touch(_ path: String, modified time: Int64? = nil) throws(FileError) {
        let times = time.map { [timespec](microseconds: $0) }
        do {
            try unsafe system("touch", path) { unsafe utimensat(AT_FDCWD, $0, times, 0) }
        } catch  where error.code == ENOENT {
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_NONBLOCK, mode: 0o644)
            try file.setMode(0o644)
            if let time { try file.setModificationTime(time) }
        }
    }

    /// The path from the root. A relative path begins in the working directory of this process.
    package static func absolute(_ path: String) throws(FileError) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let folder = unsafe getcwd(nil, 0) else {
            throw FileError("find the working directory of", path, .system(errno))
        }
        defer { unsafe free(folder) }
        return "\(unsafe String(cString: folder))/\(path)"
    }
}

/// Operations on a symbolic link itself.
package enum SymbolicLink {
    /// Makes a link at `path` that leads to `target`, and replaces a file of that name.
    package static func replace(_ path: String, to target: String) throws(FileError) {
        try refuseNUL("link to", target)
        let temporary = "\(path).tmp"
        try File.remove(temporary)
        try unsafe system("create link", temporary) { unsafe symlink(target, $0) }
        try File.rename(temporary, to: path)
    }
}

extension SymbolicLink {
    /// Where a link leads, as it is written; nothing has to be there.
    package static func target(of path: String) throws(FileError) -> String {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let size = target.count
        let count = try unsafe system("read link", path) { unsafe readlink($0, &target, size) }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// What `read` reads; nil if it cannot be read.
package func readable<Value>(_ read: () throws -> Value) -> Value? {
    do { return try read() } catch { return nil }
}
