import Glibc

/// A descriptor that closes itself, and the path it was opened by, for the errors.
struct OpenFile: ~Copyable {
    let descriptor: Int32
    let path: String

    /// Opens with `open(2)`: `O_CLOEXEC` always, so that no child inherits it, `O_NOCTTY` too.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(FileError) {
        descriptor = try unsafe system("open", path) {
            unsafe open($0, flags | O_CLOEXEC | O_NOCTTY, mode)
        }
        self.path = path
    }

    deinit { close(descriptor) }

    /// What `fstat(2)` says of the very file that is open, whatever has become of its path.
    func attributes() throws(FileError) -> FileAttributes {
        var status = stat()
        try unsafe system("examine", path) { _ in unsafe fstat(descriptor, &status) }
        return FileAttributes(status)
    }

    /// Reads to the end of the file.
    ///
    /// The size that the attributes told is not trusted: files of procfs claim none, and a file may
    /// grow meanwhile.
    func read(limit: Int) throws(FileError) -> [UInt8] {
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

    /// Writes all of it: a short count is the kernel's way to say "call again".
    func write(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try unsafe system("write", path) { _ in
                unsafe rest.withUnsafeBytes {
                    unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
                }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Sets the permission bits, whatever the umask was at the creation.
    func setMode(_ mode: mode_t) throws(FileError) {
        try unsafe system("change the mode of", path) { _ in fchmod(descriptor, mode) }
    }

    /// Returns once the content is on stable storage, as far as the kernel can tell.
    func synchronize() throws(FileError) {
        try unsafe system("sync", path) { _ in fsync(descriptor) }
    }
}
