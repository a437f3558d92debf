import Glibc

/// What can be done to a directory by its path.
package enum Directory {
    /// Makes the directory and those above it that are missing; one that is there is fine, and
    /// keeps the mode it has. Each one made gets these permission bits, whatever the umask is.
    package static func create(_ path: String, mode: UInt32 = 0o755) throws(FileError) {
        do {
            try make(path, mode: mode)
        } catch  where error.code == ENOENT {
            guard let parent = parent(of: path) else { throw error }
            try create(parent, mode: mode)
            try make(path, mode: mode)
        }
    }

    /// Removes an empty directory; one that is not there is fine.
    package static func remove(_ path: String) throws(FileError) {
        do {
            try unsafe system("remove", path) { unsafe rmdir($0) }
        } catch  where error.code == ENOENT {}
    }

    /// The names in it without `.` and `..`, in the order of their bytes, which is the same in
    /// every locale. A name that is not UTF-8 comes out repaired, so nothing can be opened by it.
    package static func list(_ path: String) throws(FileError) -> [String] {
        let names = try DirectoryStream(path).names()
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns once the names in it are on stable storage: a file that was renamed into it keeps
    /// its name over a loss of power.
    package static func synchronize(_ path: String) throws(FileError) {
        try OpenFile(path.isEmpty ? "/" : path, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Makes the last component only.
    private static func make(_ path: String, mode: UInt32) throws(FileError) {
        do {
            try unsafe system("create", path) { unsafe mkdir($0, mode) }
        } catch  where error.code == EEXIST {
            guard try File.attributes(of: path).kind == .directory else { throw error }
            return
        }
        try unsafe system("change the mode of", path) { unsafe chmod($0, mode) }
    }

    /// The path less its last component and the slashes around that; nil where nothing is left.
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
