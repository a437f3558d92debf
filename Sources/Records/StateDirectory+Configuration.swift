package import Files

extension StateDirectory {
    /// A file of the kept configuration.
    package struct ConfigurationFile: Hashable, Sendable {
        package let path: String
        package let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    /// Keeps a configuration that was accepted, for the time when the one on disk is broken. Writes
    /// nothing where it is kept already.
    package func keep(_ files: [ConfigurationFile]) throws(FileError) {
        let bytes = Array(StoredConfiguration.text(of: files).utf8)
        guard try contents(configurationPath) != bytes else { return }
        try File.replace(configurationPath, with: bytes, mode: 0o600, surviving: .powerLoss)
    }

    /// The configuration that was accepted last.
    package func keptConfiguration() throws(FileError) -> Restored<[ConfigurationFile]> {
        guard let bytes = try contents(configurationPath) else { return .nothing }
        switch StoredConfiguration.files(in: bytes) {
        case .value(let files): return .value(files)
        case .nothing: return .nothing
        case .unreadable(let problem):
            return .unreadable("read '\(configurationPath)': \(problem)")
        }
    }

    private var configurationPath: String { "\(path)/configuration.json" }
}
