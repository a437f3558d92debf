import Glibc

/// How a path leads to its file now: through which folders, by which of their entries, links
/// included. Whatever changes what the path means changes one of these entries.
struct PathChain: Hashable {
    /// One entry on the way.
    struct Step: Hashable {
        let folder: String
        let name: String
    }

    private(set) var steps: [Step] = []
    /// The path without links of what is at the end; nil where the way ends before.
    private(set) var file: String?
    /// Tells one file of that path from the next.
    private(set) var inode: UInt64 = 0

    /// As many links as the kernel follows in one path (path_resolution(7)).
    private static let linkLimit = 40

    init(_ path: String) {
        var ahead = Self.names(in: path)
        var folder = "/"
        var links = 0
        while !ahead.isEmpty {
            let name = ahead.removeFirst()
            if name == ".." {
                folder = Self.parent(of: folder)
                continue
            }
            steps.append(Step(folder: folder, name: name))
            let entry = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            var status = stat()
            guard unsafe lstat(entry, &status) == 0 else { return }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                links += 1
                guard links <= Self.linkLimit, let target = Self.target(of: entry) else { return }
                ahead = Self.names(in: target) + ahead
                if target.utf8.first == UInt8(ascii: "/") { folder = "/" }
            case S_IFDIR:
                folder = entry
            default:
                guard ahead.isEmpty else { return }
                file = entry
                inode = UInt64(status.st_ino)
            }
        }
    }

    /// The folders on the way, each with the entries that matter in it.
    var entries: [String: Set<String>] {
        steps.reduce(into: [:]) { $0[$1.folder, default: []].insert($1.name) }
    }

    private static func names(in path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }

    private static func parent(of folder: String) -> String {
        let names = folder.split(separator: "/").dropLast()
        return "/" + names.joined(separator: "/")
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return 0 }
            return unsafe readlink(link, start, bytes.count)
        }
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
