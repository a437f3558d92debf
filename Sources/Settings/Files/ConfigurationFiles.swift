package import Files

/// The files of a configuration as they were read: enough to read the same configuration again when
/// the files have changed or gone.
package struct ConfigurationFiles: Hashable, Sendable {
    /// One file, to the byte.
    package struct Content: Hashable, Sendable {
        package let path: String
        package let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    /// In the order in which they are merged: the main file, then the drop-ins.
    package let contents: [Content]
    package let passedOver: [PassedOver]

    package init(_ contents: [Content], passedOver: [PassedOver] = []) {
        self.contents = contents
        self.passedOver = passedOver
    }

    /// Reads what is there. The main file must be: one that vanished must not take its services along.
    package init(reading places: ConfigurationPlaces) throws(FileError) {
        let dropIns = try DropIns(in: places)
        var contents = [try Self.content(of: places.main)]
        for path in dropIns.paths { contents.append(try Self.content(of: path)) }
        self.init(contents, passedOver: dropIns.passedOver)
    }

    /// The settings that they come to. What was passed over and should not have been is a warning.
    package func settings(_ zones: some Zones) throws(SettingsError) -> Settings {
        try Settings.load(files: contents.map { ($0.path, $0.bytes) }, zones: zones)
    }

    private static func content(of path: String) throws(FileError) -> Content {
        Content(path: path, bytes: try File.read(path, limit: Fragment.largestFile))
    }
}
