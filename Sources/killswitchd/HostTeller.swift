import CivilTime
import Configuration
import Decision
import EventLoop
import FlagSources
import Metrics
import POSIX
import Reports
import Requests
import SourceSettings
import Storage

/// Tells the state of the host to the other side of `[report]`: `host.json` to a server, or its brief to a cluster of
/// etcd. `Telling` decides when; nothing waits for it, and nothing that the other side answers reaches a decision.
final class HostTeller {
    /// Who is told.
    enum Carrier {
        case server(HTTPSettings)
        case cluster(EtcdSource)
    }

    private unowned let daemon: Daemon
    /// What tells its finding from that of the other carrier.
    private let name: String
    private let driver: MachineDriver<TellingEvent>
    private var telling = Telling(seed: UInt64.random(in: .min ... .max))
    private var timer: Timer?
    private var carrier: Carrier?
    private var spread: Duration = .zero
    private var sink: DocumentSink?
    private var seenRevision: MetricsRevision?
    /// The news that the other side took last.
    private var delivered: Int?
    /// The brief that the cluster took last, and the revision of the cluster since then.
    private var (brief, revision): ([UInt8], Int64) = ([], 0)

    /// `name` is empty for the server, and `etcd` for the cluster.
    init(_ name: String, of daemon: Daemon) throws(SystemError) {
        (self.name, self.daemon) = (name, daemon)
        driver = MachineDriver(on: daemon.loop)
        timer = try Timer(daemon.loop, accuracy: .milliseconds(250)) { [unowned self] in
            driver.post(.woke)
        }
        driver.start { [unowned self] in
            driver.handleEvents { event in
                for effect in telling.handle(event, at: daemon.loop.now.boot) { perform(effect) }
            }
        }
    }

    /// Tells this side from now on; nil for none. The same side changes nothing.
    func configure(_ next: Carrier?, spread: Duration) {
        guard next != carrier || spread != self.spread else { return }
        cancel()
        (carrier, self.spread, sink, delivered, revision) = (next, spread, nil, nil, 0)
        var problem: String?
        switch next {
        case .server(let settings):
            do { sink = try daemon.sources.sink(to: settings) } catch { problem = "\(error)" }
        case .cluster where daemon.sources.environment.host.machineID == nil:
            problem =
                "it has no machine-id(5), which names its keys; 'systemd-machine-id-setup' makes one, then "
                + "restart killswitchd"
        case .cluster, nil: break
        }
        setProblem(problem)
        seenRevision = daemon.revision
        driver.post(.configured(isOn: next != nil && problem == nil, spread: spread))
    }

    /// Has a change told. A poll that changes nothing compares two marks.
    func reportIfChanged() {
        guard carrier != nil else { return }
        let revision = daemon.revision
        guard revision != seenRevision else { return }
        seenRevision = revision
        driver.post(.changed)
    }

    private func perform(_ effect: TellingEffect) {
        switch effect {
        case .checkSettled:
            let isSettled = daemon.overview.isSettled(daemon.gates)
            driver.post(.settledChecked(isSettled: isSettled))
        case .send(let ifChanged, let mayLogIn):
            seenRevision = daemon.revision
            switch carrier {
            case .server: post(ifChanged: ifChanged)
            case .cluster(let source): put(in: source, ifChanged: ifChanged, mayLogIn: mayLogIn)
            case nil: break
            }
        case .cancel: cancel()
        case .sleep(let moment): timer?.set(at: moment)
        }
    }

    private func cancel() {
        switch carrier {
        case .cluster(let source): source.cancelPut()
        case .server, nil: sink?.cancel()
        }
    }

    /// Sends `host.json` as it is now.
    private func post(ifChanged: Bool) {
        guard let file = daemon.parts?.host else { return driver.post(.unchanged) }
        let document = file.document()
        if ifChanged, document.fingerprint == delivered { return driver.post(.unchanged) }
        let bytes = file.write(document)
        sink?.send(bytes) { [unowned self] failure in
            if let failure { return failed(failure, advice: "") }
            succeeded(document.fingerprint)
        }
    }

    /// Puts the brief as it is now; where the cluster has it already, a sign of life.
    private func put(in source: EtcdSource, ifChanged: Bool, mayLogIn: Bool) {
        let host = daemon.sources.environment.host
        guard let machineID = host.machineID else { return }
        let next = HostBrief(host: host.name, bootID: daemon.bootID, daemon.overview, daemon.gates)
        let (fingerprint, now) = (next.hashValue, daemon.loop.now.wall)
        let isKnown = fingerprint == delivered
        if ifChanged, isKnown { return driver.post(.unchanged) }
        let bytes = isKnown ? brief : next.bytes(at: now)
        let value = isKnown ? SignOfLife(at: now, of: brief).bytes : bytes
        source.put(value, at: isKnown ? .signOfLife : .brief, of: machineID, mayLogIn: mayLogIn) {
            [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .taken(let revision):
                // Each put adds one. A cluster that was restored from a copy may have another brief, or none.
                let isLost = isKnown && revision <= self.revision
                (brief, self.revision) = (bytes, revision)
                succeeded(isLost ? nil : fingerprint)
                if isLost { driver.post(.changed) }
            case .loginNeeded: driver.post(.loginNeeded)
            case .failed(let failure):
                failed(
                    failure,
                    advice: failure.kind == .refused
                        ? "; its role needs the right to write what begins with '\(source.hostsStem)'"
                        : "")
            }
        }
    }

    private func succeeded(_ fingerprint: Int?) {
        setProblem(nil)
        delivered = fingerprint
        driver.post(.delivered)
    }

    private func failed(_ failure: Failure, advice: String) {
        let isRefused = failure.kind == .refused
        driver.post(.failed(retryAfter: failure.retryAfter, isRefused: isRefused))
        // A server that starts anew is no problem. The machine has not counted this failure yet.
        guard telling.failures >= 2 || isRefused else { return }
        setProblem("\(failure.detail)\(advice); nothing else is affected; retrying")
    }

    private func setProblem(_ cause: String?) {
        daemon.findings.set(
            .report, name, to: cause.map { "the host's state is not reported: \($0)" })
        daemon.parts?.host.update()
    }
}

extension HostTeller.Carrier: Equatable {
    /// A source that was made anew is another side: its token and connections are gone.
    static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.server(let one), .server(let other)): one == other
        case (.cluster(let one), .cluster(let other)): one === other
        case (.server, _), (.cluster, _): false
        }
    }
}
