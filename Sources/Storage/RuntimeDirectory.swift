package import CivilTime
package import Decision
package import Files
import Gates
package import Pages

/// `$RUNTIME_DIRECTORY`: the files about each service, for scripts, the service manager and people. Every file is
/// replaced atomically. Nothing here survives a reboot.
package struct RuntimeDirectory {
    package let path: String
    let bootID: String
    /// Whether somebody has the units of an open gate started, so that people see the page meanwhile.
    private let movesGates: Bool
    let written = WrittenFiles()

    /// The directory at this path; nothing is written yet. `bootID` is the current boot's.
    package init(path: String, bootID: String, movesGates: Bool = true) {
        self.path = path
        self.bootID = bootID
        self.movesGates = movesGates
    }

    /// Writes the files of a service. The marker is written last, so that watchers see current files.
    ///
    /// A full disk must not keep a switch from firing. If a closing cannot be written, the marker is
    /// renamed nevertheless, which takes no space, and the files that still say that the service may run
    /// are removed, which frees some. They are missing until the next attempt. An opening that cannot be
    /// written renames the marker too: attached units do not start beside the marker `closed`.
    package func publish(
        _ record: PublishedVerdict, of service: Service, page: Page = .standard
    ) throws(FileError) {
        let folder = "\(path)/\(service.name)"
        guard record.verdict.isEnforced else { return try observe(record, of: service, folder) }
        let opensAtOnce = record.verdict.gate == .open && !movesGates
        if opensAtOnce { try remove("\(folder)/\(FileName.unavailable)") }
        let web = WebFiles(
            page, of: record, for: service,
            isStarting: opensAtOnce ? false : try isStarting(record, folder))
        let files: [WebFiles.File] =
            [
                (FileName.state, StateFile.bytes(of: record, for: service, bootID: bootID), nil),
                (
                    FileName.environment,
                    Array(EnvironmentFile.text(of: record, for: service).utf8), nil
                ),
            ] + web.present
        for (position, file) in files.enumerated() {
            do {
                try replace(file, in: folder, isOftenSame: position >= 2)
            } catch {
                switch record.verdict.gate {
                case .closed:
                    let isTrue = position == 0 && published(in: folder)?.gate == .closed
                    close(folder, without: isTrue ? [] : files[position...].map(\.name))
                case .open:
                    do { try setMarker(.open, in: folder) } catch {}
                case nil: break
                }
                throw error
            }
        }
        written.misleading.remove(folder)
        try setMarker(record.verdict.gate, in: folder)
        try endObservation(folder)
        // A web server that has seen the marker `closed` may still read them.
        for name in web.absent { try remove("\(folder)/\(name)") }
    }

    /// Whether people see the page although the gate is not closed by decision: its units are not up yet.
    private func isStarting(_ record: PublishedVerdict, _ folder: String) throws(FileError) -> Bool
    {
        guard record.verdict.gate != .closed else { return false }
        let marker = "\(folder)/\(FileName.unavailable)"
        if try File.exists(marker) { return true }
        written.remove(marker)
        return false
    }

    /// Replaces a file. The folder is made if it is missing, which is rare. With `isOftenSame` a file that holds the
    /// bytes is left as it is.
    func replace(
        _ file: WebFiles.File, in folder: String, isOftenSame: Bool = false
    ) throws(FileError) {
        let path = "\(folder)/\(file.name)"
        if isOftenSame, WebFiles.holds(path, file.bytes) { return written.insert(path) }
        do {
            try File.replace(path, with: file.bytes, modified: file.modified)
        } catch  where error.isNotFound {
            try Directory.create(folder)
            try File.replace(path, with: file.bytes, modified: file.modified)
        }
        written.insert(path)
    }

    /// Removes a file of the daemon.
    func remove(_ path: String) throws(FileError) {
        written.remove(path)
        try File.remove(path)
    }

    func setMarker(_ gate: Gate?, in folder: String) throws(FileError) {
        for other in Gate.allCases { written.remove("\(folder)/\(other.rawValue)") }
        try Marker(folder: folder).set(gate)
        if let gate { written.insert("\(folder)/\(gate.rawValue)") }
    }

    /// The files that somebody else has deleted, by their paths in the directory: `motd`, `shop/state.json`.
    package func missing() -> Set<String> {
        Set(written.missing().map { String($0.dropFirst(path.count + 1)) })
    }

    /// The state in the folder; nil if it is missing or unreadable.
    private func published(in folder: String) -> PublishedState? {
        readable { try PublishedState.read(in: folder) } ?? nil
    }

    /// What the files of these services say that a daemon has published in this boot, read before `tidy`: for a ledger
    /// that does not. A marker alone counts too, since a closing that cannot be written leaves no more.
    package func published(of services: [ServiceName]) -> [ServiceName: Ledger.Entry] {
        var entries: [ServiceName: Ledger.Entry] = [:]
        for service in services {
            let folder = "\(path)/\(service)"
            let state = published(in: folder)
            guard state == nil || state?.bootID == bootID, let gate = Marker(folder: folder).gate
            else { continue }
            let known = state.flatMap { $0.gate == gate ? $0 : nil }
            let since = readable { try known?.object.instant("since") } ?? nil
            let generation = readable { try known?.object.generation() } ?? nil
            entries[service] = Ledger.Entry(
                state: known?.state ?? (gate == .open ? .running : .maintenance),
                since: since ?? Instant(microseconds: 0), generation: Int(generation ?? 0),
                bootID: bootID)
        }
        return entries
    }

    /// The gate of a service by its marker; nil without one.
    package func marker(of service: ServiceName) -> Gate? {
        Marker(folder: "\(path)/\(service)").gate
    }

    /// Sets the marker to closed, and removes files that are out of date now. The caller reports an error
    /// already, and tries again, so a step that fails does not stop the others.
    private func close(_ folder: String, without files: [String]) {
        do { try setMarker(.closed, in: folder) } catch {}
        for file in files + [FileName.observed] {
            do { try remove("\(folder)/\(file)") } catch {}
        }
        if published(in: folder)?.gate == .open { written.misleading.insert(folder) }
        let page = "\(folder)/\(FileName.unavailable)"
        do {
            try File.touch(page)
            written.insert(page)
        } catch {}
    }

    /// Opens a service without the daemon: removes `targets`, by which root's mover would close the gate again, and
    /// gives the marker the name `open`, without which no attached unit starts. Returns the path of the marker `closed`
    /// that was there; nil if there was none.
    package static func open(
        _ service: ServiceName, in path: String
    ) throws(FileError) -> String? {
        let folder = "\(path)/\(service)"
        let marker = Marker(folder: folder)
        let closed = marker.gate == .closed ? "\(folder)/\(Gate.closed.rawValue)" : nil
        try File.remove("\(folder)/\(TargetOrders.fileName)")
        if try !File.exists(folder) { try Directory.create(folder, like: path) }
        try marker.set(.open)
        return closed
    }

    /// Whether a directory has files of a daemon: its socket, or the state of a service.
    package static func holdsFiles(_ path: String) -> Bool {
        readable {
            let names = try Directory.list(path)
            if names.contains(FileName.controlSocket) { return true }
            return try names.compactMap(FileName.service).contains { name in
                try File.exists("\(path)/\(name)/\(FileName.state)")
            }
        } ?? false
    }

    /// The path of a source's mark, whose modification time says when it last confirmed its flags.
    package func confirmationPath(of source: SourceName) -> String {
        "\(path)/\(FileName.source(source))"
    }

    /// Sets the mark of a source, which has this path: it has confirmed its flags now, or then.
    package func confirm(_ mark: String, at moment: Instant? = nil) throws(FileError) {
        try File.touch(mark, modified: moment?.microseconds)
        written.insert(mark)
    }

    /// Removes a source's mark.
    package func removeConfirmation(of source: SourceName) throws(FileError) {
        try remove(confirmationPath(of: source))
    }

    /// Removes the files of a service that is no longer configured. `isTied`: units are attached to it, which start
    /// beside the marker `open` alone, so that this stays.
    package func withdraw(_ service: ServiceName, isTied: Bool = false) throws(FileError) {
        let folder = "\(path)/\(service)"
        guard try File.exists(folder) else { return }
        try removeService(folder, isTied: isTied)
    }

    /// Removes outdated files when a daemon starts: those of services and sources that are no longer configured,
    /// markers of another boot, and what an earlier daemon knew of the gates. Returns the errors of files that could
    /// not be read or removed. They stay: foreign files in the directory must not keep a switch from firing. Units are
    /// attached to the services that are `tied`.
    package func tidy(
        services: [ServiceName], sources: [SourceName], tied: Set<ServiceName> = []
    ) throws(FileError) -> [any Error] {
        try Directory.create(path)
        let services = Set(services)
        let marks = Set(sources.map(FileName.source))
        var problems: [any Error] = []
        for entry in try Directory.list(path) {
            do {
                if entry.hasPrefix(FileName.sourcePrefix) {
                    if !marks.contains(entry) { try File.remove("\(path)/\(entry)") }
                } else if let name = FileName.service(entry) {
                    try tidy(
                        name, isConfigured: services.contains(name), isTied: tied.contains(name))
                }
            } catch {
                problems.append(error)
            }
        }
        return problems
    }

    private func tidy(_ name: ServiceName, isConfigured: Bool, isTied: Bool) throws {
        let folder = "\(path)/\(name)"
        guard try File.attributes(of: folder, followingLinks: false).kind == .directory else {
            return
        }
        let mark = "\(folder)/\(FileName.observed)"
        if try File.exists(mark) {
            written.insert(mark)
        } else if isConfigured {
            try File.remove("\(folder)/\(FileName.gate)")
        }
        if !isConfigured {
            // A folder without a `state.json` belongs to somebody else.
            if let state = try PublishedState.read(in: folder) {
                try removeService(folder, isTied: isTied && state.bootID == bootID)
            }
        } else if published(in: folder)?.bootID != bootID {
            // The first decision replaces a state of another boot, or one that cannot be read. A marker `closed` beside
            // none may be all that is left of a closing that could not be written.
            let isOther = published(in: folder) != nil
            if isOther || Marker(folder: folder).gate != .closed {
                try Marker(folder: folder).set(nil)
            }
            try File.remove("\(folder)/\(FileName.unavailable)")
            try File.remove("\(folder)/\(TargetOrders.fileName)")
        }
    }

    /// Removes the daemon's files, and the folder if it is empty then.
    private func removeService(_ folder: String, isTied: Bool) throws(FileError) {
        let isOpen = Marker(folder: folder).gate == .open
        try setMarker(isTied && isOpen ? .open : nil, in: folder)
        written.misleading.remove(folder)
        let files = [
            FileName.state, FileName.environment, FileName.units, FileName.gate, FileName.observed,
            TargetOrders.fileName,
        ]
        for file in files + WebFiles.names { try remove("\(folder)/\(file)") }
        if try Directory.list(folder).isEmpty { try Directory.remove(folder) }
    }

    /// Writes what people are told who log in.
    package func publish(motd: String) throws(FileError) {
        let file = "\(path)/\(FileName.motd)"
        try File.replace(file, with: Array(motd.utf8))
        written.insert(file)
    }

    /// The socket of killswitchd-motd.socket, beside the directory: the daemon's user can replace nothing there.
    package var motdReceiver: String { "\(path)-motd.sock" }

    /// Writes why the configuration on disk is refused, for readers that cannot ask the daemon; nil removes the file.
    package func write(refusal: String?) throws(FileError) {
        let file = "\(path)/\(FileName.refusedConfiguration)"
        guard let refusal else { return try remove(file) }
        try File.replace(file, with: Array((refusal + "\n").utf8))
        written.insert(file)
    }
}
