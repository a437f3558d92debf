/// A path being followed one name at a time, the way the kernel does it (path_resolution(7)).
///
/// It only does the arithmetic of names: it says which name in which directory is next, and is told
/// what was found there.
struct PathWalk {
    /// A name to be looked up.
    struct Step {
        /// Where; a path without links, `..` or a slash at its end, empty for the root.
        fileprivate let parent: String
        let name: String

        var directory: String { parent.isEmpty ? "/" : parent }
        var path: String { "\(parent)/\(name)" }
    }

    /// The kernel follows this many links and no more (`ELOOP`).
    private static let mostLinks = 40

    private var parent = ""
    /// The names to come, the next one last.
    private var ahead: [String]
    private var links = 0

    init(_ path: String) {
        ahead = Self.names(path)
    }

    /// Whether the name that was given out last is the end of the path.
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

    /// There is a directory of that name: the next name is one in it.
    mutating func enter(_ step: Step) {
        parent = step.path
    }

    /// There is a link of that name: the path goes on where it leads. False if that is one link too
    /// many.
    mutating func follow(_ target: String) -> Bool {
        links += 1
        guard links <= Self.mostLinks else { return false }
        if target.utf8.first == UInt8(ascii: "/") { parent = "" }
        ahead += Self.names(target)
        return true
    }

    /// By bytes: to a `String` a slash with a combining accent after it is no slash.
    private static func names(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }
    }

    private static func parent(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return String(path[..<slash])
    }
}
