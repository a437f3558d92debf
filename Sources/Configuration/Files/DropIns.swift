package import Files

/// The drop-ins that count, as they were read, and the ignored drop-ins.
///
/// As systemd does it (systemd.unit(5)): drop-ins of all folders are sorted by file name. If several
/// folders hold the same name, the strongest folder wins; a link to /dev/null there masks the name.
///
/// Each folder and each file is opened once, and what is open is checked and read: an untrusted user cannot
/// put another file in its place in between.
struct DropIns {
    /// In the order in which they are merged: by the bytes of their names.
    private(set) var contents: [ConfigurationFiles.Content] = []
    private(set) var skipped: [SkippedFile] = []

    /// Reads the folders of `places`. A folder that does not exist counts as empty.
    init(in places: ConfigurationPlaces) throws(FileError) {
        var winners: [String: String] = [:]
        for path in places.dropIns {
            let authors = places.exposed.contains(path) ? places.trustedOwners : nil
            guard let folder = try open(path, by: authors) else { continue }
            for name in try folder.names() {
                let path = "\(folder.path)/\(name)"
                if let winner = winners[name] {
                    skipped.append(SkippedFile(path: path, cause: .overridden(by: winner)))
                } else if !name.hasSuffix(".toml") {
                    skipped.append(SkippedFile(path: path, cause: .otherSuffix))
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
            skipped.append(SkippedFile(path: path, cause: .masked))
            return true
        }
        let file = try folder.file(name)
        if let authors, let problem = try OwnershipProblem(file.attributes(), authors) {
            skipped.append(SkippedFile(path: path, cause: .untrusted(problem)))
            return false
        }
        let bytes = try file.content(limit: Fragment.largestFile)
        contents.append((path, bytes))
        return true
    }

    /// Opens a folder; nil if there is none. With `authors`, an untrusted folder, or a link in its place,
    /// is skipped as a whole.
    private mutating func open(
        _ path: String, by authors: Set<UInt32>?
    ) throws(FileError) -> OpenDirectory? {
        do {
            let folder = try OpenDirectory(path, followingLinks: authors == nil)
            if let authors, let problem = try OwnershipProblem(folder.attributes(), authors) {
                skipped.append(SkippedFile(path: path, cause: .untrusted(problem)))
                return nil
            }
            return folder
        } catch  where error.isNotFound {
            try checkLink(path, by: authors)
            return nil
        }
    }

    /// Says why a link in the place of an exposed folder is not followed.
    private mutating func checkLink(_ path: String, by authors: Set<UInt32>?) throws(FileError) {
        do {
            guard let authors,
                let problem = try OwnershipProblem(
                    File.attributes(of: path, followingLinks: false), authors)
            else { return }
            skipped.append(SkippedFile(path: path, cause: .untrusted(problem)))
        } catch  where error.isNotFound {}
    }

    private static func name(of path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }
}

/// A file of a drop-in folder that is no part of the configuration, and why.
package struct SkippedFile: Hashable, Sendable {
    /// Why the file is no part of the configuration.
    package enum Cause: Hashable, Sendable {
        /// Its name does not end in `.toml`.
        case otherSuffix
        /// A stronger folder has a file of that name.
        case overridden(by: String)
        /// It is a link to /dev/null, which masks the files of its name in weaker folders.
        case masked
        /// An untrusted user may have written it.
        case untrusted(OwnershipProblem)
    }

    /// Absolute.
    package let path: String
    package let cause: Cause

    /// Whether its author most likely meant it to be read.
    package var isWarning: Bool {
        switch cause {
        case .otherSuffix, .untrusted: true
        case .overridden, .masked: false
        }
    }
}

extension SkippedFile: CustomStringConvertible {
    package var description: String {
        switch cause {
        case .otherSuffix: "skipped \(path): its name does not end in .toml"
        case .overridden(let winner): "skipped \(path): \(winner) is read instead"
        case .untrusted(let problem): "skipped \(path): \(problem)"
        case .masked: "masked \(path): it is a link to /dev/null"
        }
    }
}

/// Why an untrusted user may have written a file, or made a folder.
package enum OwnershipProblem: Hashable, Sendable {
    /// It belongs to this user.
    case owner(UInt32)
    /// Its mode lets others write to it.
    case writable(mode: UInt32)
    /// It is a link, which leads wherever its author wants.
    case link

    /// Nil if one of `authors` owns it and nobody else may write to it.
    package init?(_ attributes: FileAttributes, _ authors: Set<UInt32>) {
        if !authors.contains(attributes.owner) {
            self = .owner(attributes.owner)
        } else if attributes.kind == .symbolicLink {
            self = .link
        } else if attributes.mode & 0o022 != 0 {
            self = .writable(mode: attributes.mode)
        } else {
            return nil
        }
    }
}

extension OwnershipProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .owner(let user): "it belongs to user \(user), not to root"
        case .writable(let mode): "its mode \(String(mode, radix: 8)) lets others write to it"
        case .link: "it is a link"
        }
    }
}
