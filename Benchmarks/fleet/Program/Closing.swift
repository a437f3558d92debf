import CivilTime
import Decision
import EventLoop
import Files
import FlagSources
import HTTP
import Reports
import Requests
import SourceSettings

/// A cluster that demands certificates of clients.
struct TestCluster {
    let settings: EtcdSettings
    let environment = HostEnvironment(
        credentialsDirectory: nil, user: 0, userAgent: "killswitchd", stateDirectory: "")

    init(url: String, authority: String, certificate: String, key: String) {
        var server = HTTPSettings(url: "")
        server.credentials = [
            .authorities: .file(authority), .clientCertificate: .file(certificate),
            .clientKey: .file(key),
        ]
        settings = EtcdSettings(
            endpoints: [url], prefix: "/flags/", login: nil, acknowledges: true, server: server)
    }
}

/// The units of all hosts stop within ten seconds after an order, and the hosts say so in a real etcd, in real time.
///
/// Each put has a connection of its own, with a handshake in both directions: more than hosts need that kept one.
final class Closing {
    private final class Host {
        var member: FleetMember
        var timer: Timer?
        /// Exists while a put is in flight.
        var source: EtcdSource?

        init(_ member: FleetMember) { self.member = member }
    }

    private let loop: EventLoop
    private let cluster: TestCluster
    private var hosts: [Host] = []
    private var gates: [Timer] = []
    /// They end after the turn of the loop in which their put has ended.
    private var ended: [EtcdSource] = []
    private var (taken, failed, inFlight, mostInFlight) = (0, 0, 0, 0)
    private var puts: [Int64: Int] = [:]
    private let start: Boottime
    private var lastTaken: Boottime

    /// The longest time that units need here.
    private static let stopTime: Duration = .seconds(10)
    private static let longest: Duration = .seconds(180)

    init(of count: Int, in cluster: TestCluster) throws {
        loop = try EventLoop()
        self.cluster = cluster
        start = EventLoop.bootClock + .seconds(1)
        lastTaken = start
        for number in 1...count { try add(Host(FleetMember(number))) }
    }

    private func add(_ host: Host) throws {
        hosts.append(host)
        // The timers of one process would else fire together, four times a second.
        host.timer = try Timer(loop, accuracy: .milliseconds(1)) { [unowned self, unowned host] in
            handle(.woke, of: host)
        }
        // The order comes, and the units are on their way.
        publish(isSettled: false, of: host)
        let gate = try Timer(loop, accuracy: .milliseconds(5)) { [unowned self, unowned host] in
            publish(isSettled: true, of: host)
        }
        gate.set(at: start + Self.stopTime.scaled(by: Double.random(in: 0...1)))
        gates.append(gate)
    }

    func run() throws {
        while taken < hosts.count, loop.now.boot < start + Self.longest {
            try loop.runOnce(.seconds(1))
            ended = []
        }
        let after = lastTaken - (start + Self.stopTime)
        FleetBenchmark.record("complete", Double(after.microseconds) / 1e6)
        FleetBenchmark.record("taken", Double(taken))
        FleetBenchmark.record("failed", Double(failed))
        FleetBenchmark.record("most-in-flight", Double(mostInFlight))
        FleetBenchmark.record("most-in-a-second", Double(puts.values.max() ?? 0))
    }

    private func publish(isSettled: Bool, of host: Host) {
        let fingerprint = isSettled ? host.member.closed.hashValue : 0
        handle(
            .published(FleetMember.service, fingerprint: fingerprint, isSettled: isSettled),
            of: host)
    }

    private func handle(_ event: AcknowledgementEvent, of host: Host) {
        for effect in host.member.machine.handle(event, at: loop.now.boot) {
            switch effect {
            case .sleep(let moment): host.timer?.set(at: moment)
            case .put: put(of: host)
            }
        }
    }

    private func put(of host: Host) {
        let (text, time) = (host.member.closed, loop.now.wall)
        let value = text.bytes(at: time, next: time + AcknowledgementMachine.period)
        do {
            let source = EtcdSource(
                cluster.settings,
                SourceDependencies(
                    name: try Self.sourceName, interval: .seconds(60),
                    environment: cluster.environment, client: try HTTPClient(loop), loop: loop,
                    deliver: { _ in }))
            host.source = source
            inFlight += 1
            mostInFlight = max(mostInFlight, inFlight)
            puts[(loop.now.boot - start).wholeSeconds, default: 0] += 1
            source.acknowledge(
                value, of: FleetMember.service, by: host.member.machineID, mayLogIn: false
            ) { [unowned self, unowned host] outcome in
                putEnded(outcome, text.hashValue, of: host)
            }
        } catch {
            failed += 1
            print("a put cannot begin: \(error)")
        }
    }

    private func putEnded(_ outcome: PutOutcome, _ fingerprint: Int, of host: Host) {
        inFlight -= 1
        if let source = host.source { ended.append(source) }
        host.source = nil
        switch outcome {
        case .taken:
            (taken, lastTaken) = (taken + 1, loop.now.boot)
            handle(.taken(fingerprint: fingerprint), of: host)
        case .loginNeeded:
            failed += 1
            handle(.loginNeeded, of: host)
        case .failed(let failure):
            failed += 1
            if failed < 10 { print("a put failed: \(failure.detail)") }
            handle(.failed(retryAfter: failure.retryAfter, isRefused: false), of: host)
        }
    }

    private struct NoName: Error {}

    private static var sourceName: SourceName {
        get throws {
            guard let name = SourceName("cluster") else { throw NoName() }
            return name
        }
    }
}
