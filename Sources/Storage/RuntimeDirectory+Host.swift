package import CivilTime
package import Files
package import JSON

/// What the directory tells of the whole host: whether a daemon runs, and what it has found.
extension RuntimeDirectory {
    /// Shows readers that the daemon works, unless a file says open of a closed service and cannot be changed.
    package func touchAlive() throws(FileError) {
        guard written.misleading.isEmpty else { return }
        let file = "\(path)/\(FileName.alive)"
        do { try File.touch(file) } catch {
            // Somebody else may have made it.
            try File.remove(file)
            try File.touch(file)
        }
    }

    /// No daemon is there from now on, and none was: the files count until their `valid_until`. Metrics would not.
    package func removeAlive() throws(FileError) {
        for name in [FileName.alive, FileName.host, FileName.metrics] {
            try File.remove("\(path)/\(name)")
        }
    }

    /// The daemon stops: no daemon runs from now on, and the time of `host.json` says until when one did.
    package func removeAliveAtStop() throws(FileError) {
        try File.touch("\(path)/\(FileName.host)")
        try File.remove("\(path)/\(FileName.alive)")
    }

    /// The last sign of life of the daemon of a directory.
    package struct Life: Hashable, Sendable {
        /// Nil if none ever was there, as after `killswitchd --once`.
        package let last: Instant?
        /// Whether the daemon has not taken it back by stopping.
        fileprivate let isAlive: Bool

        /// Whether a daemon runs.
        package func isRunning(at now: Instant) -> Bool {
            guard isAlive, let last else { return false }
            return (Duration.zero - Self.limit...Self.limit).contains(now - last)
        }

        /// A sign of life comes every 30 s.
        private static let limit: Duration = .seconds(90)
    }

    /// The last sign of life in the directory at `path`.
    package static func life(in path: String) throws(FileError) -> Life {
        let time = { (name: String) throws(FileError) in
            try File.ifThere(File.modificationTime(of: "\(path)/\(name)"))
                .map(Instant.init(microseconds:))
        }
        if let alive = try time(FileName.alive) { return Life(last: alive, isAlive: true) }
        return Life(last: try time(FileName.host), isAlive: false)
    }

    /// How old a sign of life may be: past it the files of a directory say nothing any more.
    package static let longestSilence: Duration = .seconds(300)

    /// Writes what the whole host is. A file that cannot be replaced is removed: it would say what was.
    package func publish(host bytes: [UInt8]) throws(FileError) {
        let file = "\(path)/\(FileName.host)"
        do {
            // Its readers are gone after a crash of the host, and the next daemon writes it anew.
            try File.replace(file, with: bytes)
            written.insert(file)
        } catch {
            do { try remove(file) } catch {}
            throw error
        }
    }

    /// What the whole host is, by the file in the directory at `path`; nil without it.
    package static func host(in path: String) throws -> JSON.Object? {
        let bytes = try File.ifThere(
            File.read(FileName.host, of: path, isTrusted: true, limit: longestHost))
        return try bytes.map { try JSON.Value.parse($0).asObject() }
    }

    /// The longest `host.json` in bytes.
    private static let longestHost = 1 << 20

    /// Why the configuration on disk is refused, by the file in the directory at `path`; nil without it.
    package static func refusal(in path: String) throws(FileError) -> String? {
        let name = FileName.refusedConfiguration
        return try File.ifThere(File.read(name, of: path, isTrusted: true, limit: 1 << 20))
            .map { String(decoding: $0.dropLast(), as: UTF8.self) }
    }
}
