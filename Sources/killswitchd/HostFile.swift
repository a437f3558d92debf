import CivilTime
import Configuration
import Decision
import Drivers
import EventLoop
import Files
import POSIX
import Reports
import Requests
import Storage

/// Keeps `host.json` as the host is, for all who read, and for the report.
///
/// It is written at once where something else is wrong or somebody waits for an order, else at most once a second. An
/// event that changes nothing compares two marks; each sign of life looks anew, because time alone changes some words.
final class HostFile {
    private unowned let daemon: Daemon
    private var timer: Timer?
    private var seen: Mark?
    private var writtenAt: Boottime?
    /// What the file says; nil if it is not there.
    private var content: Int?
    /// The number of the last document, and what news it tells.
    private var (generation, numbered): (Int64, Int?) = (0, nil)
    /// The numbers up to this one are stored as used; nil while nobody needs numbers that outlast the daemon.
    private var reserved: Int64?
    private var isNumberUnstored = false

    /// What differs wherever the document does, but for what time alone changes.
    private struct Mark: Equatable {
        let overview: OverviewRevision
        let gates: Int
        let findings: Int

        init(_ daemon: Daemon) {
            overview = daemon.decisionDriver.overviewRevision
            gates = daemon.gateDriver?.publicationCount ?? 0
            findings = daemon.findings.changes
        }

        func hasSameProblems(as other: Mark) -> Bool {
            overview.findings == other.overview.findings && findings == other.findings
        }
    }

    /// Writes the file for the first time. With `isReported` its numbers outlast the daemon.
    init(of daemon: Daemon, isReported: Bool) throws(SystemError) {
        self.daemon = daemon
        timer = try Timer(daemon.loop, accuracy: .milliseconds(100)) { [unowned self] in check() }
        if isReported { keepNumbers() }
        check()
    }

    /// Writes the file if it says something else. A change may wait unless somebody waits for it, or it is a problem;
    /// those of the gates are not part of the mark.
    func update(isWaitedFor: Bool = false, gatesHaveChanged: Bool = false) {
        let mark = Mark(daemon)
        guard mark != seen || gatesHaveChanged else { return }
        let isUrgent = gatesHaveChanged || seen.map { !mark.hasSameProblems(as: $0) } ?? true
        if !isWaitedFor, !isUrgent, let next = writtenAt.map({ $0 + Self.pace }),
            daemon.loop.now.boot < next
        {
            timer?.set(at: next)
            return
        }
        check()
    }

    /// Another configuration is in force.
    func reconfigured() { seen = nil }

    /// Compares the host with the file, and writes it where they differ.
    func check() {
        let document = document()
        if document.content != content { write(document) }
    }

    /// Somebody has deleted the file.
    func rewrite() {
        content = nil
        check()
    }

    /// Says that no daemon runs from now on.
    func stop() {
        check()
        do {
            try daemon.runtime.removeAliveAtStop()
        } catch {
            daemon.log.write(.warning, "\(error); readers see in 90 s that no daemon runs")
        }
    }

    /// The state of the host now.
    func document() -> HostDocument {
        seen = Mark(daemon)
        let names = daemon.sources.environment.host
        var facts = HostDocument.Facts(
            name: names.name, machineID: names.machineID, bootID: daemon.bootID,
            version: ProgramVersion.current)
        facts.origins = daemon.sources.origins
        facts.drillIntervals = daemon.drillIntervals
        return HostDocument(facts, daemon.overview, daemon.gates)
    }

    /// Writes a document with the present time, and returns its bytes. The same news keep their number.
    @discardableResult
    func write(_ document: HostDocument) -> [UInt8] {
        if document.fingerprint != numbered { generation += 1 }
        numbered = document.fingerprint
        if let reserved, generation > reserved { reserve() }
        let bytes = document.bytes(generation: generation, at: daemon.now.wall)
        do {
            try daemon.runtime.publish(host: bytes)
            content = document.content
            daemon.findings.set(.runtimeDirectory, FileName.host, to: nil)
        } catch {
            content = nil
            daemon.findings.set(
                .runtimeDirectory, FileName.host,
                to: "\(error); 'killswitchctl status' shows no findings; retrying")
            timer?.set(at: daemon.loop.now.boot + Self.retry)
        }
        writtenAt = daemon.loop.now.boot
        return bytes
    }

    // MARK: - Numbers

    /// From now on no number is used that an earlier run of the daemon has used.
    func keepNumbers() {
        guard reserved == nil else { return }
        do {
            generation = max(generation, try daemon.state.reportGeneration() ?? 0)
        } catch {
            daemon.log.write(.warning, "\(error); the reports are numbered from 1")
        }
        (reserved, numbered) = (generation, nil)
    }

    /// Stores some numbers as used before the first of them is. A full disk stops no report.
    private func reserve() {
        do {
            try daemon.state.store(reportGeneration: generation + Self.reserve)
            reserved = generation + Self.reserve
            isNumberUnstored = false
        } catch {
            guard !isNumberUnstored else { return }
            isNumberUnstored = true
            daemon.log.write(
                .warning, "\(error); the reports go on, and may repeat a number after a restart")
        }
    }

    /// How many numbers are stored at once: the loop waits for the disk once for so many documents.
    private static let reserve: Int64 = 100
    private static let pace: Duration = .seconds(1)
    private static let retry: Duration = .seconds(5)
}
