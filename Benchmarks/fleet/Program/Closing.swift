import CivilTime
import Decision
import EventLoop
import Files
import FlagSources
import Glibc
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
            endpoints: [url], prefix: "/flags/", login: nil, server: server)
    }
}

/// The units of all hosts stop within ten seconds after an order, and the hosts say so in a real etcd, in real time.
///
/// Before that each has said over a connection of its own that it is open. The connection is kept, as those of hosts
/// are that poll: libcurl drops it two minutes later.
final class Closing {
    private final class Host {
        var member: FleetMember
        let source: EtcdSource
        var timer: Timer?
        var gate: Timer?
        var isClosed = false

        init(_ member: FleetMember, _ source: EtcdSource) {
            (self.member, self.source) = (member, source)
        }

        /// Whether its units are as the order wants them.
        var isSettled = true

        var brief: HostBrief { isClosed ? member.closed : member.open }
    }

    private let loop: EventLoop
    private var hosts: [Host] = []
    private var (taken, failed, inFlight, mostInFlight) = (0, 0, 0, 0)
    private var puts: [Int64: Int] = [:]
    private var start: Boottime
    private var lastTaken: Boottime

    /// The longest time that units need here.
    private static let stopTime: Duration = .seconds(10)
    private static let longest: Duration = .seconds(180)

    init(of members: ClosedRange<Int>, in cluster: TestCluster) throws {
        loop = try EventLoop()
        start = EventLoop.bootClock
        lastTaken = start
        for number in members {
            let source = EtcdSource(
                cluster.settings,
                SourceDependencies(
                    name: try Self.sourceName, interval: .seconds(60),
                    environment: cluster.environment, client: try HTTPClient(loop), loop: loop,
                    deliver: { _ in }))
            try add(Host(FleetMember(number), source))
        }
    }

    private func add(_ host: Host) throws {
        hosts.append(host)
        // The timers of one process would else fire together, four times a second.
        host.timer = try Timer(loop, accuracy: .milliseconds(1)) { [unowned self, unowned host] in
            handle(.woke, of: host)
        }
        host.gate = try Timer(loop, accuracy: .milliseconds(5)) { [unowned self, unowned host] in
            host.isSettled = true
            handle(.changed, of: host)
        }
    }

    /// Prints `OPEN` when the hosts are, and waits for a line: other processes have hosts as well.
    func run() throws {
        for host in hosts {
            handle(.configured(isOn: true, spread: FleetMember.spread), of: host)
        }
        try waitForAll()
        print("OPEN")
        fflush(nil)
        _ = readLine()
        (start, taken, failed, mostInFlight, puts) = (loop.now.boot, 0, 0, 0, [:])
        for host in hosts {
            (host.isClosed, host.isSettled) = (true, false)
            handle(.changed, of: host)
            host.gate?.set(at: start + Self.stopTime.scaled(by: Double.random(in: 0...1)))
        }
        try waitForAll()
        let after = lastTaken - (start + Self.stopTime)
        FleetBenchmark.record("complete", Double(after.microseconds) / 1e6)
        FleetBenchmark.record("taken", Double(taken))
        FleetBenchmark.record("failed", Double(failed))
        FleetBenchmark.record("most-in-flight", Double(mostInFlight))
        FleetBenchmark.record("most-in-a-second", Double(puts.values.max() ?? 0))
    }

    private func waitForAll() throws {
        while taken < hosts.count, loop.now.boot < start + Self.longest {
            try loop.runOnce(.seconds(1))
        }
    }

    private func handle(_ event: TellingEvent, of host: Host) {
        for effect in host.member.telling.handle(event, at: loop.now.boot) {
            switch effect {
            case .sleep(let moment): host.timer?.set(at: moment)
            case .checkSettled: handle(.settledChecked(isSettled: host.isSettled), of: host)
            case .send: put(of: host)
            case .cancel: host.source.cancelPut()
            }
        }
    }

    private func put(of host: Host) {
        let value = host.brief.bytes(at: loop.now.wall)
        inFlight += 1
        mostInFlight = max(mostInFlight, inFlight)
        puts[(loop.now.boot - start).wholeSeconds, default: 0] += 1
        host.source.put(value, at: .brief, of: host.member.machineID, mayLogIn: false) {
            [unowned self, unowned host] in putEnded($0, of: host)
        }
    }

    private func putEnded(_ outcome: PutOutcome, of host: Host) {
        inFlight -= 1
        switch outcome {
        case .taken:
            (taken, lastTaken) = (taken + 1, loop.now.boot)
            handle(.delivered, of: host)
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
