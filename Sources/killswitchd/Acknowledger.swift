import CivilTime
import Decision
import EventLoop
import FlagSources
import POSIX
import Reports
import Requests
import Storage

/// Says in the clusters whose sources have `acknowledge` what the units of this host have obeyed.
///
/// It is made when a configuration has such a source. It only reads: nothing that a cluster answers reaches a decision
/// or a gate.
final class Acknowledgers {
    private unowned let daemon: Daemon
    private var clusters: [SourceName: Acknowledger] = [:]
    /// The clusters in which a service is acknowledged.
    private var readers: [ServiceName: [Acknowledger]] = [:]

    init(of daemon: Daemon) { self.daemon = daemon }

    /// Acknowledges in these clusters from now on. The plan of the machine says which services read which of them.
    func configure(_ sources: [EtcdSource]) {
        var next: [SourceName: Acknowledger] = [:]
        for source in sources {
            let same = clusters[source.name].flatMap { $0.source === source ? $0 : nil }
            do {
                next[source.name] = try same ?? Acknowledger(to: source, of: daemon)
            } catch {
                source.setAcknowledgementProblem("\(error); nothing is acknowledged")
            }
        }
        clusters = next
        updateServices()
    }

    /// Follows the services that read these sources, after the machine has another plan.
    func updateServices() {
        let known = readers
        readers = [:]
        for (name, cluster) in clusters {
            for service in daemon.machine.followers(of: name) {
                readers[service, default: []].append(cluster)
                cluster.serviceChanged(service)
            }
        }
        for (service, before) in known {
            let now = readers[service] ?? []
            for cluster in before where !now.contains(where: { $0 === cluster }) {
                cluster.withdraw(service)
            }
        }
    }

    /// Something of a service was published.
    func serviceChanged(_ service: ServiceName) {
        for cluster in readers[service] ?? [] { cluster.serviceChanged(service) }
    }

    var counts: [SourceName: AcknowledgementCounts] { clusters.mapValues(\.counts) }
}

/// Puts the acknowledgements of this host into one cluster. `AcknowledgementMachine` decides when.
private final class Acknowledger {
    private enum Input {
        case changed(ServiceName)
        case event(AcknowledgementEvent)
    }

    let source: EtcdSource
    private unowned let daemon: Daemon
    private let hostName: String?
    private let machineID: String?
    private let driver: MachineDriver<Input>
    private var machine = AcknowledgementMachine(seed: UInt64.random(in: .min ... .max))
    private var timer: Timer?
    private var waiting: Set<ServiceName> = []
    private var (taken, failed) = (0, 0)
    private var isUp: Bool?
    /// The failure that is shown.
    private var shown: Failure?

    init(to source: EtcdSource, of daemon: Daemon) throws(SystemError) {
        self.source = source
        self.daemon = daemon
        let host = daemon.sources.environment.host
        (hostName, machineID) = (host.name, host.machineID)
        driver = MachineDriver(on: daemon.loop)
        guard machineID != nil else {
            source.setAcknowledgementProblem(
                "nothing is acknowledged: this host has no machine-id(5), which names its keys; "
                    + "'systemd-machine-id-setup' makes one, then restart killswitchd")
            return
        }
        timer = try Timer(daemon.loop, accuracy: .milliseconds(250)) { [unowned self] in
            driver.post(.event(.woke))
        }
        driver.start { [unowned self] in handleInputs() }
    }

    var counts: AcknowledgementCounts {
        AcknowledgementCounts(taken: taken, failed: failed, isUp: isUp, waiting: machine.waiting)
    }

    func serviceChanged(_ service: ServiceName) {
        guard machineID != nil, waiting.insert(service).inserted else { return }
        driver.post(.changed(service))
    }

    func withdraw(_ service: ServiceName) { post(.withdrawn(service)) }

    private func post(_ event: AcknowledgementEvent) {
        if machineID != nil { driver.post(.event(event)) }
    }

    private func handleInputs() {
        driver.handleEvents(atMost: 200) { input in
            let event =
                switch input {
                case .event(let event): event
                case .changed(let service): publication(of: service)
                }
            for effect in machine.handle(event, at: daemon.loop.now.boot) { perform(effect) }
        }
    }

    /// What a service is now, as it was published.
    private func publication(of service: ServiceName) -> AcknowledgementEvent {
        waiting.remove(service)
        guard let now = acknowledged(service) else { return .withdrawn(service) }
        return .published(
            service, fingerprint: now.acknowledgement.hashValue, isSettled: now.isSettled)
    }

    private func acknowledged(_ service: ServiceName) -> AcknowledgedService? {
        let condition = daemon.condition
        let overview = daemon.machine.overview(at: daemon.now, condition)
        return AcknowledgedService(service, of: hostName, in: overview, daemon.gates)
    }

    private func perform(_ effect: AcknowledgementEffect) {
        switch effect {
        case .sleep(let moment): timer?.set(at: moment)
        case .put(let service, let mayLogIn):
            // The present state, not the one for which the put was planned.
            guard let machineID, machine.has(service), let now = acknowledged(service) else {
                return post(.obsolete)
            }
            let (text, time) = (now.acknowledgement, daemon.loop.now.wall)
            let value = text.bytes(at: time, next: time + AcknowledgementMachine.period)
            source.acknowledge(value, of: service, by: machineID, mayLogIn: mayLogIn) {
                [weak self] in self?.putEnded($0, of: text)
            }
        }
    }

    private func putEnded(_ outcome: PutOutcome, of text: Acknowledgement) {
        switch outcome {
        case .taken:
            taken += 1
            isUp = true
            shown = nil
            source.setAcknowledgementProblem(nil)
            post(.taken(fingerprint: text.hashValue))
        case .loginNeeded: post(.loginNeeded)
        case .failed(let failure):
            failed += 1
            isUp = false
            let isRefused = failure.kind == .refused
            post(.failed(retryAfter: failure.retryAfter, isRefused: isRefused))
            show(failure)
        }
    }

    /// Shows the first failure of its kind, from the second in a row on: a member that starts anew is no problem.
    private func show(_ failure: Failure) {
        let isRefused = failure.kind == .refused
        guard isRefused || machine.failures >= 1, shown?.kind != failure.kind else { return }
        shown = failure
        let advice =
            isRefused
            ? "; its role needs the right to write '\(source.acknowledgementPrefix)'" : "; retrying"
        source.setAcknowledgementProblem(
            "the acknowledgements of this host are not taken: \(failure.detail)\(advice); nothing else "
                + "is affected")
    }
}
