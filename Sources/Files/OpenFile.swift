import Glibc

/// An open file. It is closed when this value goes; its path is for errors.
package struct OpenFile: ~Copyable {
    let descriptor: Int32
    let path: String

    /// Opens with `open(2)`; always with `O_CLOEXEC`, so that no child inherits it, and `O_NOCTTY`.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(FileError) {
        descriptor = try unsafe system("open", path) {
            unsafe open($0, flags | O_CLOEXEC | O_NOCTTY, mode)
        }
        self.path = path
    }

    /// Opens a file for reading, by its path or by its name in an open directory; `path` is for errors. `O_NONBLOCK`,
    /// or opening a FIFO would wait for a writer. A socket cannot be opened at all: `ENXIO`.
    /// With `followingLinks` false, a link in its place is an error (`ELOOP`).
    init(
        reading path: String, named name: String, in directory: Int32, followingLinks: Bool = true
    ) throws(FileError) {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW)
        do {
            descriptor = try unsafe system("open", path) { _ in
                unsafe name.withCString {
                    unsafe openat(directory, $0, flags)
                }
            }
        } catch  where error.code == ENXIO {
            throw FileError("read", path, .notRegularFile)
        }
        self.path = path
    }

    deinit { close(descriptor) }

    /// The attributes of the open file, even if another file has its path now (`fstat(2)`).
    package func attributes() throws(FileError) -> FileAttributes {
        try unsafe FileAttributes(of: path) { unsafe fstat(descriptor, &$1) }
    }

    /// The whole content of a regular file of at most `limit` bytes.
    package func content(limit: Int) throws(FileError) -> [UInt8] {
        let attributes = try attributes()
        switch attributes.kind {
        case .regular: break
        case .directory: throw FileError("read", path, .system(EISDIR))
        case .symbolicLink, .special: throw FileError("read", path, .notRegularFile)
        }
        guard attributes.size <= limit else { throw FileError("read", path, .largerThan(limit)) }
        return try read(limit: limit)
    }

    /// Reads to the end of the file: its size is 0 on procfs, and it may grow meanwhile.
    private func read(limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count <= limit {
            let count = try unsafe system("read", path) { _ in
                unsafe Glibc.read(descriptor, &chunk, chunk.count)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
        throw FileError("read", path, .largerThan(limit))
    }

    /// Writes all bytes at a place in the file, in several calls if the kernel takes only a part.
    package func write(_ bytes: [UInt8], at place: Int = 0) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let offset = off_t(place + rest.startIndex)
            let count = try unsafe system("write", path) { _ in
                unsafe rest.withUnsafeBytes {
                    unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset)
                }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Sets the permission bits, whatever the umask was when the file was made.
    func setMode(_ mode: mode_t) throws(FileError) {
        try unsafe system("change the mode of", path) { _ in fchmod(descriptor, mode) }
    }

    /// Sets the modification time, in microseconds since the epoch.
    func setModificationTime(_ time: Int64) throws(FileError) {
        let times = [timespec](microseconds: time)
        try unsafe system("touch", path) { _ in unsafe futimens(descriptor, times) }
    }

    /// Returns once the content is on stable storage, as far as the kernel can tell.
    package func synchronize() throws(FileError) {
        try unsafe system("sync", path) { _ in fsync(descriptor) }
    }
}

extension [timespec] {
    /// The two times of a file, access and modification, both in microseconds since the epoch.
    init(microseconds time: Int64) {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
        // The kernel takes no negative nanoseconds: a time before the epoch is rounded towards it.
        let moment = timespec(tv_sec: Int(seconds), tv_nsec: Int(Swift.max(rest, 0)) * 1_000)
        self = [moment, moment]
    }
}

/// The attributes of a file, from `stat(2)`.
package struct FileAttributes: Hashable, Sendable {
    /// The type of a file.
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
    package let owner: UInt32
    /// Two paths with the same device and inode lead to the same file.
    let device: UInt
    let inode: UInt
    /// In bytes; 0 for most files of procfs, even if they have content.
    package let size: Int
    /// Microseconds since 1970-01-01T00:00:00Z. A time that does not fit becomes the farthest that
    /// does: a file may have any time (`tmpfs` takes 64 bits of seconds).
    package let modificationTime: Int64

    /// The attributes that a call of the family of `stat(2)` gives.
    init(of path: String, _ call: (UnsafePointer<CChar>, inout stat) -> Int32) throws(FileError) {
        var status = stat()
        try unsafe system("examine", path) { unsafe call($0, &status) }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .special
            }
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        (device, inode) = (status.st_dev, status.st_ino)
        size = status.st_size
        let time = status.st_mtim
        modificationTime = Int64(
            clamping: Int128(time.tv_sec) * 1_000_000 + Int128(time.tv_nsec / 1_000))
    }
}
