import Glibc

/// An open directory, read by `readdir(3)`; `opendir(3)` sets `O_CLOEXEC`.
@safe
struct DirectoryStream: ~Copyable {
    private let stream: OpaquePointer
    private let path: String

    init(_ path: String) throws(FileError) {
        try refuseNUL("list", path)
        guard let stream = unsafe opendir(path) else {
            throw FileError("list", path, .system(errno))
        }
        unsafe self.stream = stream
        self.path = path
    }

    deinit { unsafe closedir(stream) }

    /// The names that are left to read, without `.` and `..`, in no order.
    func names() throws(FileError) -> [String] {
        var names: [String] = []
        while let name = try next() {
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// The next name, nil at the end: `readdir` returns a null pointer for that too, and only
    /// `errno` tells the end from an error.
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
