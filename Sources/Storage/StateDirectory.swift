package import CivilTime
package import Decision
package import Files
import JSON

/// `$STATE_DIRECTORY`: the files that survive a restart and a reboot.
package struct StateDirectory {
    package let path: String

    /// Whether the reader is not the daemon that writes it.
    private let isForeign: Bool
    private let written = WrittenFiles()

    /// The directory at this path; nothing is read or written yet. With `isForeign` its files are trusted less: the
    /// reader may be root, and the daemon's user may put anything there. No link is followed, and a few megabytes of a
    /// file are read.
    package init(path: String, isForeign: Bool = false) {
        (self.path, self.isForeign) = (path, isForeign)
    }

    /// Creates the directory and its folders, as far as they are missing.
    package func prepare() throws(FileError) {
        try Directory.create(path, mode: 0o700)
        try Directory.create("\(path)/\(Self.flagsFolder)")
    }

    package static let flagsFolder = "flags"

    /// The files of this source are not missing any more if somebody deletes them.
    package func abandon(_ source: SourceName) {
        written.remove(flagsPath(source))
        written.remove(versionPath(source))
    }

    /// The paths of the files that somebody else has deleted.
    package func missing() -> Set<String> { written.missing() }

    /// Stores the answers of a source with their validators, so that an ETag is never newer than its flags. Call it
    /// before the machine acts on them. Without answers the file is removed.
    package func store(
        _ answers: [Answer], of source: SourceName, fingerprint: String
    ) throws(FileError) {
        guard !answers.isEmpty else { return try remove(flagsPath(source)) }
        try replace(
            flagsPath(source), with: StoredFlags.bytes(of: answers, fingerprint: fingerprint))
        if let confirmed = answers.first?.confirmedAt {
            try File.touch(flagsPath(source), modified: confirmed.microseconds)
        }
    }

    /// Records that the source confirmed its stored flags at `now`, as the file's modification time: their age after a
    /// reboot. It is set at most every ten minutes, to spare the disk.
    package func confirm(_ source: SourceName, at now: Instant) throws(FileError) {
        let file = flagsPath(source)
        guard let before = try modificationTime(file) else { return }
        if now - before >= Self.confirmationGrain || now < before {
            try File.touch(file, modified: now.microseconds)
        }
    }

    /// Stores the highest version of a source's signed documents. Call it before the machine acts on them.
    /// It stays when the answers are dropped. A full disk does not keep it out, once its space is reserved.
    package func store(_ version: AcceptedVersion, of source: SourceName) throws(FileError) {
        try overwrite(versionPath(source), with: version)
    }

    /// Reserves the space of the highest version, unless the file is there.
    package func reserveVersion(of source: SourceName) throws(FileError) {
        let path = versionPath(source)
        guard try !File.exists(path) else { return }
        try replace(path, with: StoredVersion.blank)
    }

    private func overwrite(_ path: String, with version: AcceptedVersion?) throws(FileError) {
        if let file = try File.openForOverwriting(path, size: StoredVersion.size) {
            return try StoredVersion.write(version, to: file)
        }
        try replace(path, with: StoredVersion.bytes(of: version))
    }

    /// The highest version of a source's signed documents. One that cannot be read is not the same as none.
    package func version(of source: SourceName) -> Stored<AcceptedVersion> {
        stored { try restored(versionPath(source), StoredVersion.version) }
    }

    /// Deletes the highest version of a source's signed documents, by an operator's order. Its space stays reserved.
    package func dropVersion(of source: SourceName) throws(FileError) {
        try overwrite(versionPath(source), with: nil)
    }

    /// The stored answers of a source, and when it last confirmed them. `mark` is the file in the
    /// runtime directory that says so for this boot. Answers whose binding `isBound` rejects are
    /// inherited. The highest version is not among them: see `version`.
    package func flags(
        of source: SourceName, mark: String, isBound: (String) -> Bool
    ) -> Stored<Memory.StoredFlags> {
        stored {
            let file = flagsPath(source)
            let answers = try restored(file) { try StoredFlags.answers(in: $0, isBound: isBound) }
            guard let answers else { return nil }
            let times = [try modificationTime(file), try modificationTime(mark)].compactMap(\.self)
            return (times + answers.map { $0.confirmedAt ?? $0.fetchedAt }).max().map {
                confirmedAt in
                Memory.StoredFlags(answers: answers, confirmedAt: confirmedAt)
            }
        }
    }

    /// Stores the overrides, before the machine acts on them.
    package func store(_ overrides: [ServiceName: Override]) throws(FileError) {
        try replace(overridesPath, with: StoredOverrides.bytes(of: overrides))
    }

    /// The stored overrides.
    package func overrides() -> Stored<[ServiceName: Override]> {
        stored { try restored(overridesPath, document: StoredOverrides.overrides) }
    }

    /// Stores the ledger, before its states are published.
    package func store(_ ledger: Ledger) throws(FileError) {
        try replace(ledgerPath, with: StoredLedger.bytes(of: ledger))
    }

    /// The stored ledger.
    package func ledger() -> Stored<Ledger> {
        stored { try restored(ledgerPath, document: StoredLedger.ledger) }
    }

    /// Gives a file that cannot be read another name, `NAME.unreadable-TIME`, so that nothing writes over it.
    package func setAside(_ record: StoredRecord, at now: Instant) throws(FileError) {
        let file =
            switch record {
            case .ledger: ledgerPath
            case .overrides: overridesPath
            case .flags(let source): flagsPath(source)
            }
        let time = Zone.utc.rfc3339(Instant(seconds: now.microseconds / 1_000_000))
            .filter { $0 != "-" && $0 != ":" }
        written.remove(file)
        do {
            try File.rename(file, to: "\(file).unreadable-\(time)")
        } catch  where error.isNotFound {}
    }

    /// Stores up to which number the numbers of reports are used, before they are: each is one state of the host.
    package func store(reportGeneration generation: Int64) throws(FileError) {
        let bytes = StoredForm.bytes(["generation": .number(Number(generation))])
        try replace(reportPath, with: bytes)
    }

    /// Up to which number the numbers of reports are used; nil before the first.
    package func reportGeneration() throws -> Int64? {
        try restored(reportPath, document: { try $0.generation() })
    }

    /// Writes a file. If somebody has deleted the directory, it is made again first.
    private func replace(
        _ file: String, with bytes: [UInt8], mode: UInt32 = 0o644
    ) throws(FileError) {
        do {
            try File.replace(file, with: bytes, mode: mode, surviving: .powerLoss)
        } catch  where error.isNotFound {
            try prepare()
            try File.replace(file, with: bytes, mode: mode, surviving: .powerLoss)
        }
        written.insert(file)
    }

    private func remove(_ file: String) throws(FileError) {
        written.remove(file)
        try File.remove(file)
    }

    /// What a reading has found. Every failure but that of a missing file is told.
    private func stored<Value>(_ read: () throws -> Value?) -> Stored<Value> {
        do { return try read().map { .known($0) } ?? .none } catch {
            return .unreadable("\(error)")
        }
    }

    /// Reads a document; nil if its file does not exist, or if there is nothing in it.
    private func restored<Value>(
        _ file: String, document content: (JSON.Object) throws -> Value?
    ) throws -> Value? {
        try restored(file) { try StoredForm.read($0, content) }
    }

    private func restored<Value>(
        _ file: String, _ content: ([UInt8]) throws -> Value?
    ) throws -> Value? {
        guard let bytes = try contents(file) else { return nil }
        do {
            let value = try content(bytes)
            written.insert(file)
            return value
        } catch {
            throw UnreadableContent(description: "read '\(file)': \(error)")
        }
    }

    private func modificationTime(_ file: String) throws(FileError) -> Instant? {
        try File.ifThere(File.modificationTime(of: file)).map(Instant.init(microseconds:))
    }

    private var ledgerPath: String { "\(path)/services.json" }

    private var reportPath: String { "\(path)/report.json" }

    private var overridesPath: String { "\(path)/overrides.json" }

    private func versionPath(_ source: SourceName) -> String {
        "\(path)/\(Self.flagsFolder)/\(source).version"
    }

    private func flagsPath(_ source: SourceName) -> String {
        "\(path)/\(Self.flagsFolder)/\(source).json"
    }

    private func contents(_ file: String) throws(FileError) -> [UInt8]? {
        guard isForeign else { return try File.ifThere(File.read(file, limit: Self.sizeLimit)) }
        return try File.ifThere(foreignContents(file))
    }

    private func foreignContents(_ file: String) throws(FileError) -> [UInt8] {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        // The directory itself is a link where systemd has made it so (DynamicUser=).
        return try File.read(
            String(parts.last ?? ""), of: folder, isTrusted: folder == path,
            limit: Self.foreignLimit)
    }

    private static let confirmationGrain: Duration = .seconds(600)

    /// In bytes: room for several answers of the largest body.
    private static let sizeLimit = 512 << 20

    /// The same for a reader that is not the daemon: the flags of a usual source, and what is kept of many services.
    private static let foreignLimit = 8 << 20

    /// A file of the kept configuration: the path that it was read from, and its content.
    package typealias ConfigurationFile = (path: String, bytes: [UInt8])

    /// An accepted configuration: its files in the order of merging, and what they name that is on disk elsewhere, the
    /// page templates and the data of time zones.
    package typealias KeptConfiguration = (
        files: [ConfigurationFile], templates: [ConfigurationFile], zones: [StoredZone]
    )

    /// The data of a time zone: its name, and the bytes of its file.
    package typealias StoredZone = (name: String, bytes: [UInt8])

    /// Stores an accepted configuration, to fall back to when that on disk is invalid. Leaves a file that is the same.
    package func keep(_ configuration: KeptConfiguration) throws(FileError) {
        let bytes = StoredConfiguration.bytes(of: configuration)
        if try contents(configurationPath) == bytes { return written.insert(configurationPath) }
        try replace(configurationPath, with: bytes, mode: 0o600)
    }

    /// The last accepted configuration; nil if none is kept.
    package func keptConfiguration() throws -> KeptConfiguration? {
        try restored(configurationPath, document: StoredConfiguration.configuration)
    }

    /// Whether the kept configuration is among these files.
    package func isConfiguration(in files: Set<String>) -> Bool {
        files.contains(configurationPath)
    }

    private var configurationPath: String { "\(path)/configuration.json" }
}

/// A stored file cannot be read, or its content is not what this version, or an earlier one, writes.
package struct UnreadableContent: Error, CustomStringConvertible {
    package let description: String
}

extension Stored {
    /// Nil without one. Throws why it cannot be read.
    package func get() throws(UnreadableContent) -> Value? {
        if let problem { throw UnreadableContent(description: problem) }
        return value
    }
}
