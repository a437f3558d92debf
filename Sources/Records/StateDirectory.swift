package import CivilTime
package import Decision
package import Files
import JSON

/// `$STATE_DIRECTORY`: the files that survive a restart and a reboot.
package struct StateDirectory {
    /// The absolute path.
    package let path: String

    /// The directory at this path; nothing is read or written yet.
    package init(path: String) { self.path = path }

    /// Creates the directory and its folders.
    package func prepare() throws(FileError) { try Directory.create("\(path)/flags") }

    /// Stores the answers of a source, each with its validators in the same file, so that an ETag
    /// is never newer than its flags. Call it before the machine acts on them. Without answers the
    /// file is removed.
    package func store(
        _ answers: [Answer], of source: SourceName, binding: String
    ) throws(FileError) {
        guard !answers.isEmpty else { return try File.remove(flagsPath(source)) }
        let bytes = StoredFlags.bytes(of: answers, binding: binding)
        try File.replace(flagsPath(source), with: bytes, surviving: .powerLoss)
    }

    /// Records that the source confirmed its stored flags at `now`, as the file's modification
    /// time: it gives their age after a reboot. It is set at most every ten minutes, to spare the
    /// disk.
    package func confirm(_ source: SourceName, at now: Instant) throws(FileError) {
        let file = flagsPath(source)
        guard let before = try modificationTime(file) else { return }
        if now - before >= Self.confirmationGrain || now < before { try File.touch(file) }
    }

    /// The stored answers of a source, and when it last confirmed them. `mark` is the file in the
    /// runtime directory that says so for this boot. Answers whose binding `isBound` rejects are
    /// inherited.
    package func flags(
        of source: SourceName, mark: String, isBound: (String) -> Bool
    ) throws(FileError) -> Restored<Memory.StoredFlags> {
        let file = flagsPath(source)
        switch try restored(file, { try StoredFlags.answers(in: $0, isBound: isBound) }) {
        case .value(let answers):
            let times = [try modificationTime(file), try modificationTime(mark)].compactMap(\.self)
            guard let confirmedAt = (times + answers.map(\.fetchedAt)).max() else {
                return .nothing
            }
            return .value(Memory.StoredFlags(answers: answers, confirmedAt: confirmedAt))
        case .nothing: return .nothing
        case .unreadable(let problem): return .unreadable(problem)
        }
    }

    /// Stores the overrides, before the machine acts on them.
    package func store(_ overrides: [ServiceName: Override]) throws(FileError) {
        let bytes = StoredOverrides.bytes(of: overrides)
        try File.replace(overridesPath, with: bytes, surviving: .powerLoss)
    }

    /// The stored overrides.
    package func overrides() throws(FileError) -> Restored<[ServiceName: Override]> {
        try restored(overridesPath, StoredOverrides.overrides)
    }

    /// Stores the ledger, before its states are published.
    package func store(_ ledger: Ledger) throws(FileError) {
        try File.replace(ledgerPath, with: StoredLedger.bytes(of: ledger), surviving: .powerLoss)
    }

    /// The stored ledger.
    package func ledger() throws(FileError) -> Restored<Ledger> {
        try restored(ledgerPath, StoredLedger.ledger)
    }

    /// Reads a file; an error in its content names the file.
    private func restored<Value>(
        _ file: String, _ content: (JSON.Object) throws -> Value?
    ) throws(FileError) -> Restored<Value> {
        guard let bytes = try contents(file) else { return .nothing }
        do {
            return try StoredForm.read(bytes, content).map(Restored.value) ?? .nothing
        } catch {
            return .unreadable("read '\(file)': \(error)")
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

    private func contents(_ file: String) throws(FileError) -> [UInt8]? {
        do {
            return try File.read(file, limit: Self.sizeLimit)
        } catch  where error.isNotFound {
            return nil
        }
    }

    /// How often a confirmation is recorded at most.
    private static let confirmationGrain: Duration = .seconds(600)

    /// In bytes: room for several answers of the largest body, escaped.
    private static let sizeLimit = 512 << 20
}

extension StateDirectory {
    /// A file of the kept configuration: the path that it was read from, and its content.
    package typealias ConfigurationFile = (path: String, bytes: [UInt8])

    /// Stores an accepted configuration, to fall back to when the configuration on disk is invalid.
    /// Writes nothing if the same one is stored already.
    package func keep(_ files: [ConfigurationFile]) throws(FileError) {
        let bytes = StoredConfiguration.bytes(of: files)
        guard try contents(configurationPath) != bytes else { return }
        try File.replace(configurationPath, with: bytes, mode: 0o600, surviving: .powerLoss)
    }

    /// The files of the configuration that was accepted last.
    package func keptConfiguration() throws(FileError) -> Restored<[ConfigurationFile]> {
        try restored(configurationPath, StoredConfiguration.files)
    }

    private var configurationPath: String { "\(path)/configuration.json" }
}

/// The result of reading a stored file. An unreadable file is reported and later overwritten. It
/// never keeps the daemon from starting.
package enum Restored<Value> {
    case value(Value)
    /// There is no such file, or it is empty of content.
    case nothing
    /// Why the file cannot be read: a clause that names it.
    case unreadable(String)
}
