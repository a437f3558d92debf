import Glibc

extension File {
    /// The path from the root: a relative one begins in the working directory of this process.
    package static func absolute(_ path: String) throws(FileError) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let folder = unsafe getcwd(nil, 0) else {
            throw FileError("find the working directory of", path, .system(errno))
        }
        defer { unsafe free(folder) }
        return "\(unsafe String(cString: folder))/\(path)"
    }
}
