import Files

/// The drop-ins that count, and those that do not.
///
/// As systemd does it (systemd.unit(5)): they are taken by file name over all folders; of one name
/// that in the strongest folder counts, and a link to /dev/null there takes the name out.
struct DropIns: Hashable {
    /// In the order in which they are merged: by the bytes of their names.
    private(set) var paths: [String] = []
    private(set) var passedOver: [PassedOver] = []

    /// Looks through the folders of `places`; one that is not there is empty.
    init(in places: ConfigurationPlaces) throws(FileError) {
        var winners: [String: String] = [:]
        for folder in places.dropIns {
            let authors = places.exposed.contains(folder) ? places.authors : nil
            for name in try names(in: folder, by: authors) {
                let path = "\(folder)/\(name)"
                if let winner = winners[name] {
                    passedOver.append(PassedOver(path, .overridden(by: winner)))
                } else if !name.hasSuffix(".toml") {
                    passedOver.append(PassedOver(path, .otherSuffix))
                } else if try take(path, by: authors) {
                    winners[name] = path
                }
            }
        }
        paths.sort { Self.name(of: $0).utf8.lexicographicallyPrecedes(Self.name(of: $1).utf8) }
    }

    /// Takes a file, or the word of a link to /dev/null; says whether one of the two is what it is.
    private mutating func take(
        _ path: String, by authors: Set<UInt32>?
    ) throws(FileError) -> Bool {
        if try File.isLink(path, to: "/dev/null") {
            passedOver.append(PassedOver(path, .masked))
            return true
        }
        if let authors, let doubt = try Doubt(File.attributes(of: path), authors) {
            passedOver.append(PassedOver(path, .doubtful(doubt)))
            return false
        }
        paths.append(path)
        return true
    }

    /// What is in a folder. With `authors` it has to be theirs: one that is not, or that a link leads to,
    /// is passed over as a whole, and nothing in it is looked at.
    private mutating func names(
        in folder: String, by authors: Set<UInt32>?
    ) throws(FileError) -> [String] {
        do {
            if let authors {
                let attributes = try File.attributes(of: folder, followingLinks: false)
                if let doubt = Doubt(attributes, authors) {
                    passedOver.append(PassedOver(folder, .doubtful(doubt)))
                    return []
                }
            }
            return try Directory.list(folder)
        } catch  where error.isNotFound {
            return []
        }
    }

    private static func name(of path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }
}
