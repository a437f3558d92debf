package import Decision
package import Files

/// `$RUNTIME_DIRECTORY`: what scripts, the service manager and people read of each service.
///
/// Every file is replaced atomically. Nothing here outlives the boot.
package struct RuntimeDirectory {
    /// The directory itself.
    package let path: String
    private let bootID: String

    /// The directory at `path`, for a daemon of this boot.
    package init(path: String, bootID: String) {
        self.path = path
        self.bootID = bootID
    }

    /// Writes the files of a service, the marker last: who waits for it finds the others true.
    ///
    /// A full disk must not keep a switch from firing. Where a closing cannot be written the marker is
    /// renamed all the same, which takes no space, and the files that would go on to say that the
    /// service may run are removed, which makes some: there is none until the next attempt.
    package func publish(_ record: Record, of service: Service) throws(FileError) {
        let folder = "\(path)/\(service.name)"
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
    package func mark(of source: SourceName) -> String { "\(path)/\(FileName.source(source))" }

    /// Notes that the source has confirmed its flags now.
    package func confirm(_ source: SourceName) throws(FileError) {
        try File.touch(mark(of: source))
    }

    /// Throws where the files of one of these services are gone: somebody has removed them.
    package func check(_ services: [ServiceName]) throws(FileError) {
        for service in services {
            _ = try File.attributes(of: "\(path)/\(service)/\(FileName.state)")
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
    package func tidy(
        services: [ServiceName], sources: [SourceName]
    ) throws(FileError) -> [any Error] {
        try Directory.create(path)
        let services = Set(services)
        let marks = Set(sources.map(FileName.source))
        var problems: [any Error] = []
        for entry in try Directory.list(path) {
            do {
                if entry.hasPrefix(FileName.sourcePrefix) {
                    if !marks.contains(entry) { try File.remove("\(path)/\(entry)") }
                } else if let name = ServiceName(entry) {
                    try tidy(name, isConfigured: services.contains(name))
                }
            } catch {
                problems.append(error)
            }
        }
        return problems
    }

    private func tidy(_ name: ServiceName, isConfigured: Bool) throws {
        let folder = "\(path)/\(name)"
        guard try File.attributes(of: folder, followingLinks: false).kind == .directory else {
            return
        }
        if !isConfigured {
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
