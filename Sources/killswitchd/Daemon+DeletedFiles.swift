import CivilTime
import ControlSocket
import Decision
import Drivers
import EventLoop
import Files
import Gates
import Storage

/// Files that somebody deletes in the two directories come back at once. `DeletionWatch` notices them.
extension Daemon {
    /// Writes files again that somebody has deleted.
    func restore(_ deletions: DeletionWatch.Deletions) {
        let isWhole = deletions.concernsAll
        let names = deletions.names.filter(isExpected)
        let isGone = { (name: String) in isWhole || names.contains(name) }
        let folders = Set(names.compactMap { $0.split(separator: "/").first.map(String.init) })
        let services = machine.plan.services.map(\.name).filter {
            (isWhole || folders.contains($0.text)) && machine.publishedVerdict(of: $0) != nil
        }
        let sources = machine.plan.sources.map(\.name).filter { isGone(FileName.source($0)) }
        let others = [FileName.controlSocket, FileLock.name, FileName.motd, FileName.metrics]
        guard others.contains(where: isGone) || !services.isEmpty || !sources.isEmpty else {
            return
        }
        log.write(.warning, deletions.words(runtime.path))
        do {
            if isWhole { try Directory.create(runtime.path) }
            if isGone(FileLock.name) { runtimeLock = try runtimeLock.renewed(in: runtime.path) }
            if isGone(FileName.controlSocket) { try parts?.server?.listenAgain() }
        } catch {
            // The service manager makes the directory at the start. Without it no file can be written.
            log.write(.error, "\(error); ending, for another start", id: .controlUnavailable)
            return loop.exit(DaemonExitStatus.failure)
        }
        if isWhole { parts?.deletions.rearm() }
        for name in services {
            decisionDriver.post(.filesDeleted(name))
            if let gateDriver {
                gateDriver.post(.filesDeleted(name))
            } else {
                moveGate(of: name, to: machine.publishedVerdict(of: name))
            }
        }
        for name in sources { restoreMark(of: name) }
        if isGone(FileName.motd) { motd?.rewrite() }
        if isGone(FileName.metrics) { parts?.metrics.write() }
        store.writeRefusal()
    }

    /// Writes the stored files again. Only the service manager may make the directory: without it the daemon goes on
    /// with what it knows, and the failed writes are a problem until they succeed.
    func restoreState(_ deletions: DeletionWatch.Deletions) {
        guard deletions.concernsAll || deletions.names.contains(where: isStored) else { return }
        log.write(.warning, deletions.words(state.path))
        do {
            try state.prepare()
            stateLock = try stateLock.renewed(in: state.path)
        } catch {
            isStateLost = true
            log.write(.error, "\(error); until it is repaired, a restart would lose orders")
        }
        followState()
        decisionDriver.post(.stateDeleted)
    }

    /// Watches the state directory that is at its path now, and stores in it again what no event brings.
    private func followState() {
        parts?.stateDeletions.rearm()
        parts?.stateDeletions.setFolder(of: StateDirectory.flagsFolder, isWatched: true)
        store.keepAgain()
    }

    /// Somebody has made the state directory again, and every failed write has succeeded.
    func finishRestore(after event: Event) {
        guard isStateLost, case .writeEnded(_, problem: nil) = event, !machine.hasPendingWrites
        else { return }
        do {
            stateLock = try stateLock.renewed(in: state.path)
            isStateLost = false
        } catch {
            log.write(.error, "\(error); a second daemon could use the state directory")
        }
        followState()
    }

    /// Whether a file of this name should be in the state directory.
    private func isStored(_ name: String) -> Bool {
        let folder = "\(StateDirectory.flagsFolder)/"
        guard name.hasPrefix(folder) else {
            let files = [StateDirectory.flagsFolder, FileLock.name] + StateDirectory.files
            return files.contains(name)
        }
        return machine.plan.sources.contains { source in
            switch name.dropFirst(folder.count) {
            case "\(source.name).json": !machine.answers(of: source.name).isEmpty
            case "\(source.name).version": machine.hasAcceptedVersion(of: source.name)
            default: false
            }
        }
    }

    /// Whether a file of this name should be there. Some files of a service come and go with its state.
    private func isExpected(_ name: String) -> Bool {
        let parts = name.split(separator: "/")
        guard parts.count == 2, let service = ServiceName(String(parts[0])),
            let record = machine.publishedVerdict(of: service)
        else { return true }
        let isUnavailable = gateDriver?.report(of: service)?.isUnavailable
        return RuntimeDirectory.expects(
            String(parts[1]), with: record.verdict,
            isUnavailable: isUnavailable ?? (record.verdict.gate == .closed))
    }

    /// Makes the mark of a source again, with the time at which the source confirmed its flags.
    private func restoreMark(of source: SourceName) {
        guard let age = machine.view(of: source, at: now)?.age else { return }
        let confirmed = now.wall - age
        do {
            try File.touch(runtime.confirmationPath(of: source), modified: confirmed.microseconds)
        } catch {
            decisionDriver.post(.writeEnded(.markConfirmed(source), problem: "\(error)"))
        }
    }
}
