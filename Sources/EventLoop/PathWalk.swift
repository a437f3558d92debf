import Glibc
import POSIX

/// A path being followed one name at a time, the way the kernel does it (path_resolution(7)).
///
/// It makes no system call: it returns the next name, and the caller reports the kind of file there.
struct PathWalk {
    /// The kernel follows this many links and no more (`ELOOP`).
    private static let mostLinks = 40

    /// The directory so far: a path without links, `..` or a slash at its end; empty for the root.
    private var parent = ""
    /// The names to come; the next name is last.
    private var ahead: [String]
    private var links = 0

    /// A walk along an absolute path.
    init(_ path: String) { ahead = Self.names(path) }

    /// Whether the name that `next()` gave last is the end of the path.
    var isAtEnd: Bool { ahead.isEmpty }

    /// The directory in which to look up the name.
    var directory: String { parent.isEmpty ? "/" : parent }

    /// The next name to look up, and its path; nil at the end of the path.
    mutating func next() -> (name: String, path: String)? {
        while let name = ahead.popLast() {
            switch name {
            case ".": continue
            case "..":
                let slash = parent.utf8.lastIndex(of: UInt8(ascii: "/")) ?? parent.startIndex
                parent = String(parent[..<slash])
            default: return (name, "\(parent)/\(name)")
            }
        }
        return nil
    }

    /// Goes into the directory that was found: the next name is looked up there.
    mutating func enter(_ path: String) { parent = path }

    /// Goes on with the target of the link that was found. False if the path has too many links.
    mutating func follow(_ target: String) -> Bool {
        links += 1
        guard links <= Self.mostLinks else { return false }
        if target.utf8.first == UInt8(ascii: "/") { parent = "" }
        ahead += Self.names(target)
        return true
    }

    /// Splits by bytes: to a `String` a slash with a combining accent after it is no slash.
    private static func names(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }
    }
}

/// The kind of file that a name in a directory leads to.
enum PathEntry {
    case nothing
    case directory
    case link(target: String)
    /// Anything else: a regular file, a FIFO, a device.
    case file

    /// Looks at the path, without following a link at its end. A link whose target is not UTF-8 is the error `EILSEQ`:
    /// a `String` cannot hold it.
    init(at path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            self = try Self.failure("examine '\(path)'", errno)
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .directory
        case S_IFLNK: self = try Self.link(at: path)
        default: self = .file
        }
    }

    private static func link(at path: String) throws(SystemError) -> Self {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        let call = "read link '\(path)'"
        guard count >= 0 else { return try failure(call, errno) }
        let bytes = target.prefix(count).map { UInt8(truncatingIfNeeded: $0) }
        guard let target = String(validating: bytes, as: UTF8.self) else {
            throw SystemError(call, code: EILSEQ)
        }
        return .link(target: target)
    }

    /// Nothing is there, or no longer: a file that is no link any more (`EINVAL`) was replaced since it was looked at.
    private static func failure(_ call: String, _ code: Int32) throws(SystemError) -> Self {
        guard [ENOENT, ENOTDIR, EINVAL].contains(code) else { throw SystemError(call, code: code) }
        return .nothing
    }
}
