package import Files

/// Where a configuration is looked for.
package struct ConfigurationPlaces: Hashable, Sendable {
    /// From the root, for paths in the file begin in its folder.
    package let main: String
    /// The folders of drop-ins, the strongest first.
    package let dropIns: [String]
    /// Those of them that are in a directory of the daemon's user, so that anything may be put there by
    /// a daemon that is not itself any more. What is in them counts by its owner.
    package let exposed: Set<String>
    /// The users whose files count there.
    package private(set) var authors: Set<UInt32> = [0]

    package init(main: String, dropIns: [String], exposed: Set<String> = []) {
        self.main = main
        self.dropIns = dropIns
        self.exposed = exposed
    }

    /// The same for a daemon of a user's own: what that user could put there, it may do anyway.
    package func trusting(_ user: UInt32) -> ConfigurationPlaces {
        var places = self
        places.authors.insert(user)
        return places
    }

    /// Those of the system: the vendor's files in /usr/lib, the run time's in /run, and in /etc the
    /// administrator's, which are the strongest.
    package static let standard = ConfigurationPlaces(
        main: "/etc/killswitchd/killswitchd.toml",
        dropIns: ["/etc", "/run", "/usr/lib"].map { "\($0)/killswitchd/conf.d" },
        exposed: ["/run/killswitchd/conf.d"])

    /// A file of the user's own, with the drop-ins in `conf.d` beside it.
    package static func beside(_ file: String) throws(FileError) -> ConfigurationPlaces {
        let main = try File.absolute(file)
        guard main != standard.main else { return standard }
        let folder = main.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return ConfigurationPlaces(
            main: main, dropIns: ["\(folder.joined(separator: "/"))/conf.d"])
    }
}
