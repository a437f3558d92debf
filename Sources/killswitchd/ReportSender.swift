import CivilTime
import Configuration
import Decision
import EventLoop
import FlagSources
import JSON
import Metrics
import POSIX
import Reports
import Requests
import SourceSettings
import Storage

/// Sends the state of the host to the server of `[report]`. `ReportMachine` decides when; nothing waits for it.
final class ReportSender {
    private unowned let daemon: Daemon
    private let host: JSON.Object
    private let driver: MachineDriver<ReportEvent>
    private var machine = ReportMachine(seed: UInt64.random(in: .min ... .max))
    private var timer: Timer?
    private var sink: DocumentSink?
    private var sentRevision: MetricsRevision?
    /// The number of the last report, at first that of an earlier run, and its fingerprint.
    private var (generation, deliveredGeneration): (Int64, Int?) = (0, nil)
    /// The fingerprint of the report that the server took last.
    private var delivered: Int?
    /// The numbers up to this one are stored as used.
    private var reserved: Int64 = 0
    /// Whether the number of the last report could not be stored.
    private var isNumberUnstored = false

    init(of daemon: Daemon) throws(SystemError) {
        self.daemon = daemon
        let (loop, names) = (daemon.loop, daemon.sources.environment.host)
        host = HostReport.host(
            name: names.name, machineID: names.machineID, bootID: daemon.bootID,
            version: ProgramVersion.current)
        driver = MachineDriver(on: loop)
        timer = try Timer(loop, accuracy: .milliseconds(250)) { [unowned self] in
            driver.post(.woke)
        }
        driver.start { [unowned self] in
            driver.handleEvents { event in
                for effect in machine.handle(event, at: daemon.loop.now.boot) { perform(effect) }
            }
        }
    }

    /// Reports to this site from now on; nil for none. An unchanged site changes nothing.
    func configure(server settings: HTTPSettings?) {
        guard settings != sink?.settings else { return }
        sink?.cancel()
        sink = nil
        delivered = nil
        daemon.findings.set(.report, to: nil)
        do {
            if let settings {
                sink = try daemon.sources.sink(to: settings)
                if deliveredGeneration == nil { readNumber() }
            }
        } catch {
            daemon.findings.set(.report, to: "the host's state is not reported: \(error)")
        }
        sentRevision = daemon.revision
        driver.post(.configured(hasSink: sink != nil))
    }

    /// Has a change reported. A poll that changes nothing compares two marks.
    func reportIfChanged() {
        guard sink != nil else { return }
        let revision = daemon.revision
        guard revision != sentRevision else { return }
        sentRevision = revision
        driver.post(.changed)
    }

    private func perform(_ effect: ReportEffect) {
        switch effect {
        case .checkSettled:
            let isSettled = daemon.overview.isSettled(daemon.gates)
            driver.post(.settledChecked(isSettled: isSettled))
        case .send(let ifChanged): report(ifChanged: ifChanged)
        case .cancel:
            sink?.cancel()
        case .sleep(let moment): timer?.set(at: moment)
        }
    }

    /// Makes a report and sends it. The same state keeps its number.
    private func report(ifChanged: Bool) {
        sentRevision = daemon.revision
        let report = HostReport(of: host, daemon.overview, daemon.gates)
        let fingerprint = report.fingerprint
        if ifChanged, fingerprint == delivered { return driver.post(.unchanged) }
        if fingerprint != deliveredGeneration { generation += 1 }
        deliveredGeneration = fingerprint
        if generation > reserved { reserve() }
        let document = report.bytes(generation: generation)
        sink?.send(document) { [unowned self] failure in sendEnded(failure) }
    }

    private func sendEnded(_ failure: Failure?) {
        guard let failure else {
            daemon.findings.set(.report, to: nil)
            delivered = deliveredGeneration
            return driver.post(.delivered)
        }
        let isRefused = failure.kind == .refused
        driver.post(.failed(retryAfter: failure.retryAfter, isRefused: isRefused))
        // A server that starts anew is no problem. The machine has not counted this failure yet.
        guard machine.failures >= 2 || isRefused else { return }
        daemon.findings.set(
            .report,
            to:
                "the host's state is not reported: \(failure.detail); nothing else is affected; retrying"
        )
    }

    private func readNumber() {
        do {
            reserved = try daemon.state.reportGeneration() ?? 0
        } catch {
            daemon.log.write(.warning, "\(error); the reports are numbered from 1")
        }
        generation = reserved
    }

    /// Stores some numbers as used before the first of them is, so that none is used again after a restart. A full
    /// disk stops no report.
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

    /// How many numbers are stored at once: the loop waits for the disk once for so many reports.
    private static let reserve: Int64 = 100
}
