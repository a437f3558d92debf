import CivilTime
import Decision
import EventLoop
import FlagSources
import Metrics
import POSIX
import Reports
import Requests
import SourceSettings
import Storage

/// Sends the state of the host to the server of `[report]`. `ReportMachine` decides when; nothing waits for it.
final class ReportSender {
    private unowned let daemon: Daemon
    private let driver: MachineDriver<ReportEvent>
    private var machine = ReportMachine(seed: UInt64.random(in: .min ... .max))
    private var timer: Timer?
    private var sink: DocumentSink?
    private var sentRevision: MetricsRevision?
    /// The news of the report that the server took last.
    private var delivered: Int?

    init(of daemon: Daemon) throws(SystemError) {
        self.daemon = daemon
        driver = MachineDriver(on: daemon.loop)
        timer = try Timer(daemon.loop, accuracy: .milliseconds(250)) { [unowned self] in
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

    /// Sends `host.json` as it is now.
    private func report(ifChanged: Bool) {
        guard let file = daemon.parts?.host else { return driver.post(.unchanged) }
        sentRevision = daemon.revision
        let document = file.document()
        if ifChanged, document.fingerprint == delivered { return driver.post(.unchanged) }
        let bytes = file.write(document)
        sink?.send(bytes) { [unowned self] failure in sendEnded(failure, document.fingerprint) }
    }

    private func sendEnded(_ failure: Failure?, _ fingerprint: Int) {
        defer { daemon.parts?.host.update() }
        guard let failure else {
            daemon.findings.set(.report, to: nil)
            delivered = fingerprint
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
}
