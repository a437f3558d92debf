package import CivilTime
package import Decision
package import Files
import JSON

/// `$STATE_DIRECTORY`: what has to survive a restart and a reboot.
package struct StateDirectory {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    package func prepare() throws(FileError) {
        try Directory.create("\(path)/flags")
    }

    /// Stores the answers of a source before they are acted on, each with its validators, so that
    /// an ETag is never newer than the flags it stands for. Without answers nothing is kept of it.
    package func store(
        _ answers: [Answer], of source: SourceName, binding: String
    ) throws(FileError) {
        guard !answers.isEmpty else { return try File.remove(flagsPath(source)) }
        let bytes = StoredFlags.bytes(of: answers, binding: binding)
        try File.replace(flagsPath(source), with: bytes, surviving: .powerLoss)
    }

    /// Notes that the stored flags were confirmed at `now`. Their age after a reboot is told by this
    /// file's modification time, which is set at most every ten minutes, to spare the disk.
    package func confirm(_ source: SourceName, at now: Instant) throws(FileError) {
        let file = flagsPath(source)
        guard let before = try modificationTime(file) else { return }
        if now - before >= Self.confirmationGrain || now < before { try File.touch(file) }
    }

    /// What was stored of a source, and when it was last confirmed: in this boot by `mark`, the file
    /// in the runtime directory. Under a binding that `isBound` does not accept it is inherited.
    package func flags(
        of source: SourceName, mark: String, isBound: (String) -> Bool
    ) throws(FileError) -> Restored<Memory.Kept> {
        let file = flagsPath(source)
        guard let bytes = try contents(file) else { return .nothing }
        let answers: [Answer]
        switch StoredFlags.answers(in: bytes, isBound: isBound) {
        case .value(let stored): answers = stored
        case .nothing: return .nothing
        case .unreadable(let problem): return .unreadable("read '\(file)': \(problem)")
        }
        let times = [try modificationTime(file), try modificationTime(mark)].compactMap(\.self)
        let fetched = answers.map(\.fetchedAt).max()
        guard let confirmedAt = (times + [fetched].compactMap(\.self)).max() else {
            return .nothing
        }
        return .value(Memory.Kept(answers: answers, confirmedAt: confirmedAt))
    }

    /// Keeps overrides, before they are acted on.
    package func keep(_ overrides: [ServiceName: Override]) throws(FileError) {
        let text = StoredOverrides.text(of: overrides)
        try File.replace(overridesPath, with: Array(text.utf8), surviving: .powerLoss)
    }

    package func overrides() throws(FileError) -> Restored<[ServiceName: Override]> {
        guard let bytes = try contents(overridesPath) else { return .nothing }
        switch StoredOverrides.overrides(in: bytes) {
        case .value(let overrides): return .value(overrides)
        case .nothing: return .nothing
        case .unreadable(let problem): return .unreadable("read '\(overridesPath)': \(problem)")
        }
    }

    package func remember(_ ledger: Ledger) throws(FileError) {
        let text = StoredLedger.text(of: ledger)
        try File.replace(ledgerPath, with: Array(text.utf8), surviving: .powerLoss)
    }

    package func ledger() throws(FileError) -> Restored<Ledger> {
        guard let bytes = try contents(ledgerPath) else { return .nothing }
        switch StoredLedger.ledger(in: bytes) {
        case .value(let ledger): return .value(ledger)
        case .nothing: return .nothing
        case .unreadable(let problem): return .unreadable("read '\(ledgerPath)': \(problem)")
        }
    }

    private func modificationTime(_ file: String) throws(FileError) -> Instant? {
        do {
            return Instant(microseconds: try File.modificationTime(of: file))
        } catch  where error.isNotFound {
            return nil
        }
    }

    private var ledgerPath: String { "\(path)/services.json" }

    private var overridesPath: String { "\(path)/overrides.json" }

    private func flagsPath(_ source: SourceName) -> String { "\(path)/flags/\(source).json" }

    func contents(_ file: String) throws(FileError) -> [UInt8]? {
        do {
            return try File.read(file, limit: Self.sizeLimit)
        } catch  where error.isNotFound {
            return nil
        }
    }

    private static let confirmationGrain: Duration = .seconds(600)

    /// Several answers of the largest body, escaped.
    private static let sizeLimit = 512 << 20
}

/// What came back of something stored. A file that cannot be read back is said and then overwritten;
/// it never keeps the daemon from starting.
package enum Restored<Value> {
    case value(Value)
    case nothing
    case unreadable(String)
}

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
