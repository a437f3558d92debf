import Glibc

/// What can be done to a symbolic link itself.
package enum SymbolicLink {
    /// Makes a link at `path` that leads to `target`; what has that name already is replaced.
    package static func replace(_ path: String, to target: String) throws(FileError) {
        try refuseNUL("link to", target)
        let temporary = "\(path).tmp"
        try File.remove(temporary)
        try unsafe system("create link", temporary) { unsafe symlink(target, $0) }
        try File.rename(temporary, to: path)
    }
}
