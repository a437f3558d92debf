import Files

/// The drop-ins that count, and those that do not.
///
/// As systemd does it (systemd.unit(5)): they are taken by file name over all folders; of one name
/// that in the strongest folder counts, and a link to /dev/null there takes the name out.
struct DropIns: Hashable {
    /// In the order in which they are merged: by the bytes of their names.
    private(set) var paths: [String] = []
    private(set) var passedOver: [PassedOver] = []

    /// Looks through `folders`, the strongest first; one that is not there is empty.
    init(in folders: [String]) throws(FileError) {
        var winners: [String: String] = [:]
        for folder in folders {
            for name in try Self.names(in: folder) {
                let path = "\(folder)/\(name)"
                if let winner = winners[name] {
                    passedOver.append(PassedOver(path, .overridden(by: winner)))
                } else if !name.hasSuffix(".toml") {
                    passedOver.append(PassedOver(path, .otherSuffix))
                } else {
                    winners[name] = path
                    try take(path)
                }
            }
        }
        paths.sort { Self.name(of: $0).utf8.lexicographicallyPrecedes(Self.name(of: $1).utf8) }
    }

    private mutating func take(_ path: String) throws(FileError) {
        if try File.isLink(path, to: "/dev/null") {
            passedOver.append(PassedOver(path, .masked))
        } else {
            paths.append(path)
        }
    }

    private static func names(in folder: String) throws(FileError) -> [String] {
        do {
            return try Directory.list(folder)
        } catch  where error.isNotFound {
            return []
        }
    }

    private static func name(of path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }
}
