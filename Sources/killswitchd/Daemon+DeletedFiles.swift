import CivilTime
import ControlSocket
import Decision
import Drivers
import EventLoop
import Files
import Gates
import Storage

/// What the last look at the two directories has found, so that what cannot be repaired is told once.
struct DeletedFiles {
    fileprivate var runtime: Set<String> = []
    fileprivate var state: Set<String> = []
}

/// Files that somebody deletes in the two directories come back: each sign of life looks for what is missing.
extension Daemon {
    /// Writes again what is missing. While nothing is, nothing is written.
    func restoreDeletedFiles() {
        restoreState()
        restoreRuntime()
    }

    private func restoreRuntime() {
        let missing = runtime.missing()
        let (lock, isListening) = (runtimeLock, parts?.server?.isAtPath ?? true)
        do {
            if !missing.isEmpty { try Directory.create(runtime.path) }
            runtimeLock = try runtimeLock.renewed(in: runtime.path)
        } catch {
            // The service manager makes the directory at the start. Without it no file can be written.
            log.write(.error, "\(error); ending, for another start")
            return loop.exit(DaemonExitStatus.failure)
        }
        if lock !== runtimeLock || !isListening || !missing.isSubset(of: deletedFiles.runtime) {
            log.write(
                .warning, "somebody has deleted files in \(runtime.path): they are written again",
                id: .filesDeleted)
        }
        deletedFiles.runtime = missing
        listenAgain()
        let names = Set(missing.map { $0.prefix { $0 != "/" } })
        for service in machine.plan.services.map(\.name) where names.contains(service.text[...]) {
            decisionDriver.post(.filesDeleted(service))
            if let gateDriver {
                gateDriver.post(.filesDeleted(service))
            } else {
                moveGate(of: service, to: machine.publishedVerdict(of: service))
            }
        }
        for source in machine.plan.sources.map(\.name)
        where missing.contains(FileName.source(source)) {
            restoreMark(of: source)
        }
        if missing.contains(FileName.host) { parts?.host.rewrite() }
        if missing.contains(FileName.motd) { motd?.rewrite() }
        if missing.contains(FileName.refusedConfiguration) { store.writeRefusal() }
    }

    private func listenAgain() {
        do {
            try parts?.server?.listenAgain()
            if parts?.server != nil { findings.set(.controlSocket, to: nil) }
        } catch {
            findings.set(.controlSocket, to: Self.withoutSocket(error))
        }
    }

    /// Stores again what is known. Only the service manager may make the directory: without it the daemon goes on with
    /// what it knows, and the failed writes are a problem until they succeed.
    private func restoreState() {
        let (lock, missing) = (stateLock, state.missing())
        var problem: String?
        do {
            if !missing.isEmpty { try state.prepare() }
            stateLock = try stateLock.renewed(in: state.path)
        } catch {
            problem = "\(error); until it is repaired, a restart would lose orders"
        }
        findings.set(.stateDirectory, to: problem)
        let isNew = !missing.isSubset(of: deletedFiles.state)
        deletedFiles.state = missing
        if isNew || lock !== stateLock {
            log.write(
                .warning, "somebody has deleted files in \(state.path): they are written again",
                id: .filesDeleted)
        }
        if missing.isEmpty { return }
        if state.isConfiguration(in: missing) { store.keepAgain() }
        decisionDriver.post(.stateDeleted)
    }

    /// Makes the mark of a source again, with the time at which the source confirmed its flags.
    private func restoreMark(of source: SourceName) {
        guard let age = machine.view(of: source, at: now)?.age else { return }
        do {
            try runtime.confirm(runtime.confirmationPath(of: source), at: now.wall - age)
        } catch {
            decisionDriver.post(.writeEnded(.markConfirmed(source), problem: "\(error)"))
        }
    }
}
