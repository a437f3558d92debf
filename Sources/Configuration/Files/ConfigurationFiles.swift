package import Files

/// The files of a configuration as they were read: enough to read the same configuration again after
/// the files have changed or gone.
package struct ConfigurationFiles: Sendable {
    /// The path and the bytes of one file.
    package typealias Content = (path: String, bytes: [UInt8])

    /// In the order in which they are merged: the main file, then the drop-ins.
    package internal(set) var contents: [Content]
    package internal(set) var skipped: [SkippedFile] = []
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
