import Glibc
import POSIX

/// A path being followed one name at a time, the way the kernel does it (path_resolution(7)).
///
/// It makes no system call: it returns the next name and its directory, and the caller reports the
/// kind of file there.
struct PathWalk {
    /// A name to look up in a directory.
    struct Step {
        /// The directory: a path without links, `..` or a slash at its end; empty for the root.
        fileprivate let parent: String
        let name: String

        var directory: String { parent.isEmpty ? "/" : parent }
        var path: String { "\(parent)/\(name)" }
    }

    /// The kernel follows this many links and no more (`ELOOP`).
    private static let mostLinks = 40

    private var parent = ""
    /// The names to come; the next name is last.
    private var ahead: [String]
    private var links = 0

    /// A walk along an absolute path.
    init(_ path: String) { ahead = Self.names(path) }

    /// Whether the step that `next()` gave last is the end of the path.
    var isAtEnd: Bool { ahead.isEmpty }

    /// The next name to look up, nil at the end of the path.
    mutating func next() -> Step? {
        while let name = ahead.popLast() {
            switch name {
            case ".": continue
            case "..": parent = Self.parent(of: parent)
            default: return Step(parent: parent, name: name)
            }
        }
        return nil
    }

    /// Goes into the directory that the step has found: the next name is looked up there.
    mutating func enter(_ step: Step) { parent = step.path }

    /// Goes on with the target of the link that the step has found. False if the path has too many
    /// links.
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

    private static func parent(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return String(path[..<slash])
    }
}

/// The kind of file that a name in a directory leads to.
enum PathEntry {
    case nothing
    case directory
    case link(target: String)
    /// Anything else: a regular file, a FIFO, a device.
    case file

    /// Looks at the path, without following a link at its end.
    ///
    /// A link whose target is not UTF-8 is the error `EILSEQ`: a path is a `String` here, which
    /// cannot hold such a target.
    init(at path: String) throws(SystemError) {
        var status = stat()
        switch SystemError.negated(unsafe lstat(path, &status)) {
        case 0: break
        case -ENOENT, -ENOTDIR:
            self = .nothing
            return
        case let failure: throw SystemError("examine '\(path)'", code: -failure)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .directory
        case S_IFLNK: self = try Self.link(at: path)
        default: self = .file
        }
    }

    /// Reads a link. A file that is no link any more was replaced since it was looked at.
    private static func link(at path: String) throws(SystemError) -> Self {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        guard count >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR || code == EINVAL { return .nothing }
            throw SystemError("read link '\(path)'", code: code)
        }
        let bytes = target.prefix(count).lazy.map(UInt8.init(bitPattern:))
        guard let target = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("read link '\(path)'", code: EILSEQ)
        }
        return .link(target: target)
    }
}
