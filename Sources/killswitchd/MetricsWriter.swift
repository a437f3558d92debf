import Configuration
import Decision
import EventLoop
import Files
import Metrics
import POSIX
import Storage

/// Writes the metrics: `metrics.prom` in the runtime directory, and the file that `[metrics] textfile` names.
///
/// A poll that changes nothing compares two marks. A file that cannot be written is one warning; it is tried again
/// with each sign of life.
final class MetricsWriter {
    private unowned let daemon: Daemon
    private var written: MetricsRevision?
    private var pace = WritingPace()
    private var timer: Timer?
    private var textfile: String?

    init(of daemon: Daemon) throws(SystemError) {
        self.daemon = daemon
        timer = try Timer(daemon.loop, accuracy: .milliseconds(100)) { [unowned self] in write() }
    }

    /// Writes to this file too, and no longer to the one before, which is left as it is.
    func setTextfile(_ textfile: String?) {
        if let before = self.textfile, before != textfile {
            daemon.findings.set(.metrics, before, to: nil)
        }
        self.textfile = textfile
    }

    /// Has them written if they have changed.
    func requestIfChanged() { if daemon.revision != written { request() } }

    func request() {
        if pace.request(at: daemon.loop.now.boot), let due = pace.dueAt { timer?.set(at: due) }
    }

    func write() {
        let (revision, overview) = (daemon.revision, daemon.overview)
        let bytes = MetricsText.bytes(
            of: overview, daemon.gates, version: ProgramVersion.current)
        written = revision
        defer { daemon.parts?.host.update() }
        // On a full file system the room belongs to the closings that could not be written.
        if !overview.isRuntimeDirectoryTroubled {
            write(bytes, to: "\(daemon.runtime.path)/\(FileName.metrics)")
        }
        if let textfile { write(bytes, to: textfile) }
        pace.written(at: daemon.loop.now.boot)
    }

    private func write(_ bytes: [UInt8], to path: String) {
        do {
            try File.replace(path, with: bytes)
            daemon.findings.set(.metrics, path, to: nil)
        } catch {
            daemon.findings.set(
                .metrics, path,
                to: "the metrics are not written: \(error); nothing else is affected")
        }
    }
}

extension Overview {
    /// Whether files of services could not be written.
    fileprivate var isRuntimeDirectoryTroubled: Bool {
        findings.contains { $0.kind == .runtimeDirectory }
    }
}
