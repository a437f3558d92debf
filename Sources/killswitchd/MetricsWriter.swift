import CivilTime
import Decision
import EventLoop
import Files
import Gates
import Metrics
import POSIX
import Storage

/// Writes the metrics: `metrics.prom` in the runtime directory, and the file that `[metrics] textfile` names.
///
/// A poll that changes nothing compares two marks. A file that cannot be written is one warning; it is tried again
/// with each sign of life.
final class MetricsWriter {
    private let loop: EventLoop
    private let runtime: RuntimeDirectory
    private let log: Log
    private let revision: () -> MetricsRevision
    private let overview: () -> (Overview, GateMachine?)
    private var text: MetricsText
    private var written: MetricsRevision?
    private var pace = WritingPace()
    private var timer: Timer?
    private var textfile: String?
    /// Why a file cannot be written, and since when.
    private var problems: [String: HostCondition.Since] = [:]

    /// Metrics of a daemon of this version. `revision` and `overview` are the present ones.
    init(
        on loop: EventLoop, _ runtime: RuntimeDirectory, _ log: Log, version: String,
        mark: @escaping () -> MetricsRevision, overview: @escaping () -> (Overview, GateMachine?)
    ) throws(SystemError) {
        self.loop = loop
        self.runtime = runtime
        self.log = log
        text = MetricsText(version: version)
        self.revision = mark
        self.overview = overview
        timer = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in write() }
    }

    /// Why the metrics are not written, and since when; nil if they are.
    var problem: HostCondition.Since? { problems.sorted { $0.key < $1.key }.first?.value }

    /// Writes to this file too, and no longer to the one before, which is left as it is.
    func setTextfile(_ textfile: String?) {
        if let before = self.textfile, before != textfile { problems[before] = nil }
        self.textfile = textfile
    }

    /// Has them written if they have changed.
    func requestIfChanged() { if revision() != written { request() } }

    /// Has them written soon.
    func request() {
        if pace.request(at: loop.now.boot), let due = pace.dueAt { timer?.set(at: due) }
    }

    /// Writes them now.
    func write() {
        let mark = revision()
        let (overview, gates) = overview()
        let bytes = text.bytes(of: overview, gates, at: mark)
        written = mark
        // On a full file system the room belongs to the closings that could not be written.
        if !overview.isRuntimeDirectoryTroubled {
            write(bytes, to: "\(runtime.path)/\(FileName.metrics)")
        }
        if let textfile { write(bytes, to: textfile) }
        pace.written(at: loop.now.boot)
    }

    private func write(_ bytes: [UInt8], to path: String) {
        do {
            try File.replace(path, with: bytes, surviving: .nothing)
            if problems.removeValue(forKey: path) != nil {
                log.write(
                    .info, "the metrics are written again to '\(path)'", id: .recordsRecovered)
            }
        } catch {
            let known = problems[path]
            problems[path] = HostCondition.Since(
                "\(error)", since: known?.since ?? EventLoop.wallClock)
            guard known == nil else { return }
            log.write(
                .warning, "the metrics are not written: \(error); nothing else is affected",
                id: .recordFailed)
        }
    }
}

extension Overview {
    /// Whether files of services could not be written.
    fileprivate var isRuntimeDirectoryTroubled: Bool {
        problemReferences { _ in false }.contains { reference in
            guard case .known(let problem) = reference else { return false }
            return problem.kind == .runtimeDirectory
        }
    }
}
