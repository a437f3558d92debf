package import Decision
package import Files

/// `$RUNTIME_DIRECTORY`: what scripts, the service manager and people read of each service.
///
/// Every file is replaced atomically. Nothing here outlives the boot.
package struct RuntimeDirectory {
    package let path: String
    private let bootID: String
    let services: [ServiceName: Service]
    /// The marks of the sources that services follow: one is touched at each poll.
    private let marks: [SourceName: String]

    package init(path: String, bootID: String, services: [Service]) {
        self.path = path
        self.bootID = bootID
        let sources = services.flatMap(\.switches).map(\.source)
        marks = Dictionary(sources.map { ($0, Self.mark(of: $0, in: path)) }) { first, _ in first }
        self.services = Dictionary(services.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Writes the files of a service, the marker last: who waits for it finds the others true.
    ///
    /// A full disk must not keep a switch from firing. Where a closing cannot be written the marker is
    /// renamed all the same, which takes no space, and the files that would go on to say that the
    /// service may run are removed, which makes some: there is none until the next attempt.
    package func publish(_ record: Record, of name: ServiceName) throws(FileError) {
        guard let service = services[name] else { return }
        let folder = "\(path)/\(name)"
        let marker = Marker(folder: folder)
        try Directory.create(folder)
        let texts = [
            (FileName.state, StateFile.text(of: record, for: service, bootID: bootID)),
            (FileName.environment, EnvironmentFile.text(of: record, for: service)),
        ]
        for (position, text) in texts.enumerated() {
            do {
                try File.replace("\(folder)/\(text.0)", with: Array(text.1.utf8))
            } catch {
                if record.verdict.gate == .closed {
                    let isTrue = position == 0 && saysClosed(folder)
                    close(folder, without: isTrue ? [] : texts[position...].map(\.0))
                }
                throw error
            }
        }
        try marker.set(record.verdict.gate)
    }

    /// Whether what is in the folder from before says so already.
    private func saysClosed(_ folder: String) -> Bool {
        do { return try PublishedState.read(in: folder)?.gate == .closed } catch { return false }
    }

    /// Closes by the marker alone, and takes away what is out of date now. The caller has an error to
    /// report already, and tries again: a step that fails must not keep the others from being made.
    private func close(_ folder: String, without files: [String]) {
        do { try Marker(folder: folder).set(.closed) } catch {}
        for file in files {
            do { try File.remove("\(folder)/\(file)") } catch {}
        }
    }

    /// Whether a daemon has its files in a directory: its socket, or the state of a service.
    package static func holdsFiles(_ path: String) -> Bool {
        do {
            let names = try Directory.list(path)
            if names.contains(FileName.controlSocket) { return true }
            for name in names.compactMap({ ServiceName($0) })
            where try File.exists("\(path)/\(name)/\(FileName.state)") {
                return true
            }
            return false
        } catch {
            return false
        }
    }

    /// The file whose modification time says when the source last confirmed its flags.
    package func mark(of source: SourceName) -> String {
        marks[source] ?? Self.mark(of: source, in: path)
    }

    private static func mark(of source: SourceName, in path: String) -> String {
        "\(path)/\(FileName.source(source))"
    }

    /// Notes that the source has confirmed its flags now.
    package func confirm(_ source: SourceName) throws(FileError) {
        try File.touch(mark(of: source))
    }

    /// Throws where the files of a service that follows the source are gone: somebody has removed
    /// them.
    package func check(_ source: SourceName) throws(FileError) {
        for service in services.values
        where service.switches.contains(where: { $0.source == source }) {
            _ = try File.attributes(of: "\(path)/\(service.name)/\(FileName.state)")
        }
    }

    /// Removes the file that says when a source last confirmed its flags.
    package func unmark(_ source: SourceName) throws(FileError) {
        try File.remove(mark(of: source))
    }

    /// Removes the files of a service that is no longer configured.
    package func withdraw(_ service: ServiceName) throws(FileError) {
        let folder = "\(path)/\(service)"
        guard try File.exists(folder) else { return }
        try removeService(folder)
    }

    /// Removes what is not true any more when a daemon starts: the files of services and sources
    /// that are no longer configured, and markers of another boot. Gives what could not be looked at
    /// or removed, which is left: whatever else is in the directory keeps no switch from firing.
    package func tidy(sources: [SourceName]) throws(FileError) -> [any Error] {
        try Directory.create(path)
        let marks = Set(sources.map(FileName.source))
        var problems: [any Error] = []
        for entry in try Directory.list(path) {
            do {
                if entry.hasPrefix(FileName.sourcePrefix) {
                    if !marks.contains(entry) { try File.remove("\(path)/\(entry)") }
                } else if let name = ServiceName(entry) {
                    try tidy(name)
                }
            } catch {
                problems.append(error)
            }
        }
        return problems
    }

    private func tidy(_ name: ServiceName) throws {
        let folder = "\(path)/\(name)"
        guard try File.attributes(of: folder, followingLinks: false).kind == .directory else {
            return
        }
        if services[name] == nil {
            // A folder without a state of ours is somebody else's.
            if try PublishedState.read(in: folder) != nil { try removeService(folder) }
        } else if !isOfThisBoot(folder) {
            try Marker(folder: folder).set(nil)
        }
    }

    /// A state that cannot be read tells of no boot. The first decision replaces it.
    private func isOfThisBoot(_ folder: String) -> Bool {
        do {
            return try PublishedState.read(in: folder)?.bootID == bootID
        } catch {
            return false
        }
    }

    /// Removes the files that are ours, and the folder when nothing else is in it.
    private func removeService(_ folder: String) throws(FileError) {
        try Marker(folder: folder).set(nil)
        for file in [FileName.state, FileName.environment, FileName.units] {
            try File.remove("\(folder)/\(file)")
        }
        if try Directory.list(folder).isEmpty { try Directory.remove(folder) }
    }
}

/// The names of the files that others rely on.
package enum FileName {
    package static let state = "state.json"
    package static let environment = "state.env"
    /// Why the configuration on disk is refused; there only while it is. No service has a dot in
    /// its name.
    package static let refusedConfiguration = "configuration.refused"
    package static let units = "units.json"
    /// Where the daemon listens to killswitchctl.
    package static let controlSocket = "control.sock"
    package static let sourcePrefix = "source."

    /// The file whose modification time says when a source last confirmed its flags.
    package static func source(_ name: SourceName) -> String { sourcePrefix + name.text }
}

extension RuntimeDirectory {
    /// Notes that the configuration on disk is refused, and why; nil takes the note away. Readers
    /// without a way to ask the daemon learn it there.
    package func note(refusal: String?) throws(FileError) {
        let file = "\(path)/\(FileName.refusedConfiguration)"
        guard let refusal else { return try File.remove(file) }
        try File.replace(file, with: Array((refusal + "\n").utf8))
    }

    /// Why the configuration on disk is not in force, as it was noted in the directory at `path`.
    package static func refusal(in path: String) throws(FileError) -> String? {
        do {
            let file = "\(path)/\(FileName.refusedConfiguration)"
            let bytes = try File.read(file, limit: 1 << 20)
            return String(decoding: bytes.dropLast(), as: UTF8.self)
        } catch  where error.isNotFound {
            return nil
        }
    }
}
