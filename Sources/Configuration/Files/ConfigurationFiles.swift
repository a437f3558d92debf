package import Files

/// The files of a configuration as they were read: enough to read the same configuration again after
/// the files have changed or gone.
package struct ConfigurationFiles: Sendable {
    /// The path and the bytes of one file.
    package typealias Content = (path: String, bytes: [UInt8])

    /// In the order in which they are merged: the main file, then the drop-ins.
    package private(set) var contents: [Content]
    package private(set) var skipped: [SkippedFile] = []
    /// The page templates that were read with them earlier; nil if they are read from the disk.
    let templates: [Content]?

    /// Files that were read earlier.
    package init(_ contents: [Content], templates: [Content]? = nil) {
        self.contents = contents
        self.templates = templates
    }

    /// Reads the main file and the drop-ins. A main file that is missing is an error: otherwise its
    /// services would vanish with it.
    package init(reading places: ConfigurationPlaces) throws(FileError) {
        self.init([])
        try readDropIns(in: places)
        let main = try File.read(places.main, limit: Table.largestFile)
        contents.insert((places.main, main), at: 0)
    }
}

/// The main file and the folders of drop-ins.
package struct ConfigurationPlaces: Hashable, Sendable {
    /// Absolute, because relative paths in the file begin in its folder.
    package let main: String
    /// The folders of drop-ins, the strongest first.
    package let dropIns: [String]
    /// The folders of drop-ins to which the daemon's user can write. A daemon under somebody else's
    /// control could put files there, so only files of `trustedOwners` count in them.
    package let exposed: Set<String>
    /// The users whose files count in `exposed`.
    package private(set) var trustedOwners: Set<UInt32> = [0]

    /// Places for which `exposed` accepts only files of root.
    package init(main: String, dropIns: [String], exposed: Set<String> = []) {
        self.main = main
        self.dropIns = dropIns
        self.exposed = exposed
    }

    /// The same places, with files of the daemon's `user` counted in `exposed`: that user controls it anyway.
    package func trusting(_ user: UInt32) -> ConfigurationPlaces {
        var places = self
        places.trustedOwners.insert(user)
        return places
    }

    /// The places of the system: the vendor's files in /usr/lib, the run time's files in /run, and
    /// the administrator's in /etc, which are the strongest.
    package static let standard = ConfigurationPlaces(
        main: "/etc/killswitchd/killswitchd.toml",
        dropIns: ["/etc", "/run", "/usr/lib"].map { "\($0)/killswitchd/conf.d" },
        exposed: ["/run/killswitchd/conf.d"])

    /// The places of another main file, with its drop-ins in `conf.d` beside it.
    package static func beside(_ file: String) throws(FileError) -> ConfigurationPlaces {
        let main = try File.absolute(file)
        guard main != standard.main else { return standard }
        let folder = main.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return ConfigurationPlaces(main: main, dropIns: ["\(folder.joined(separator: "/"))/conf.d"])
    }
}

extension ConfigurationFiles {
    /// Reads the drop-ins in the folders of `places`. A folder that does not exist counts as empty.
    ///
    /// As systemd does it (systemd.unit(5)): drop-ins of all folders are sorted by the bytes of their names. If
    /// several folders hold the same name, the strongest folder wins; a link to /dev/null there masks the name.
    ///
    /// Each folder and each file is opened once, and what is open is checked and read: an untrusted user cannot
    /// put another file in its place in between.
    mutating func readDropIns(in places: ConfigurationPlaces) throws(FileError) {
        var winners: [String: String] = [:]
        for path in places.dropIns {
            let authors = places.exposed.contains(path) ? places.trustedOwners : nil
            guard let folder = try open(path, by: authors) else { continue }
            for name in try folder.names() {
                let path = "\(folder.path)/\(name)"
                if let winner = winners[name] {
                    skipped.append(.replaced("skipped \(path): \(winner) is read instead"))
                } else if !name.hasSuffix(".toml") {
                    skipped.append(.refused(path, "its name does not end in .toml"))
                } else if try read(name, path, in: folder, by: authors) {
                    winners[name] = path
                }
            }
        }
        contents.sort {
            Self.name(of: $0.path).utf8.lexicographicallyPrecedes(Self.name(of: $1.path).utf8)
        }
    }

    /// Reads a drop-in, or notes a mask; false for a file that an untrusted user may have written.
    private mutating func read(
        _ name: String, _ path: String, in folder: borrowing OpenDirectory,
        by authors: Set<UInt32>?
    ) throws(FileError) -> Bool {
        if try folder.isLink(name, to: "/dev/null") {
            skipped.append(.replaced("masked \(path): it is a link to /dev/null"))
            return true
        }
        let file = try folder.file(name)
        guard try isTrusted(file.attributes(), path, authors) else { return false }
        contents.append((path, try file.content(limit: Table.largestFile)))
        return true
    }

    /// Opens a folder; nil if there is none. With `authors`, an untrusted folder or a link is skipped.
    private mutating func open(
        _ path: String, by authors: Set<UInt32>?
    ) throws(FileError) -> OpenDirectory? {
        do {
            let folder = try OpenDirectory(path, followingLinks: authors == nil)
            guard try isTrusted(folder.attributes(), path, authors) else { return nil }
            return folder
        } catch  where error.isNotFound {
            // A link in the place of an exposed folder is not followed.
            let link = try File.ifThere(File.attributes(of: path, followingLinks: false))
            if let link { _ = isTrusted(link, path, authors) }
            return nil
        }
    }

    /// Whether one of `authors` has made a file or a folder. If not, it is skipped.
    private mutating func isTrusted(
        _ attributes: FileAttributes, _ path: String, _ authors: Set<UInt32>?
    ) -> Bool {
        guard let problem = authors.flatMap(attributes.ownershipProblem) else { return true }
        skipped.append(.refused(path, problem))
        return false
    }

    private static func name(of path: String) -> Substring { path.split(separator: "/").last ?? "" }
}

/// A file of a drop-in folder that is no part of the configuration.
package struct SkippedFile: Sendable, CustomStringConvertible {
    /// The file, and why it does not count.
    package let description: String
    /// Whether its author most likely meant it to be read.
    package let isWarning: Bool

    /// A file that a stronger folder replaces, or a mask.
    fileprivate static func replaced(_ description: String) -> Self {
        Self(description: description, isWarning: false)
    }

    /// A file that would count if it were not for this problem.
    fileprivate static func refused(_ path: String, _ problem: String) -> Self {
        Self(description: "skipped \(path): \(problem)", isWarning: true)
    }
}

extension FileAttributes {
    /// Why an untrusted user may have written it; nil if only one of `authors` can have.
    fileprivate func ownershipProblem(_ authors: Set<UInt32>) -> String? {
        if !authors.contains(owner) { return "it belongs to user \(owner), not to root" }
        // A link leads wherever its author wants.
        if kind == .symbolicLink { return "it is a link" }
        if mode & 0o022 == 0 { return nil }
        return "its mode \(String(mode, radix: 8)) lets others write to it"
    }
}
