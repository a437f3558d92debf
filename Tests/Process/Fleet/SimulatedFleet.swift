import CivilTime
import Decision
import EventLoop
import Gates
import JSON
import Support

/// How a simulated host stands to an order that closes the shop.
enum Conduct {
    /// It has not heard of the order.
    case open
    /// Its units are down.
    case down
    /// A unit is about to stop.
    case stopping
    /// A unit does not stop.
    case stuck
    /// Its units run on for a while, as configured.
    case draining
    /// Its units are down, and its source has been silent for minutes.
    case cutOff
    /// Its daemon died minutes ago; the exporter serves what it left.
    case dead

    /// Its metrics now, as the daemon writes them.
    func metrics() throws -> String {
        let age: Duration = .seconds(self == .dead ? 500 : 300)
        var host = try ObservedHost(start: EventLoop.wallClock - age)
        var gates = ObservedGates()
        try gates.open("web.service")
        let flags = #"{"state": "\#(self == .open ? "running" : "maintenance")"}"#
        let version = self == .open ? "41" : "42"
        try host.at(1, answers: flags, version: version)
        if self == .draining {
            let end = Boottime(microseconds: 1_000_000_000) + .seconds(360)
            gates.at(
                1,
                .decided(
                    "shop", DesiredGate(gate: .closed, state: .maintenance), drainsUntil: end))
        } else if self != .open {
            try gates.close()
        }
        switch self {
        case .open, .stopping, .draining: break
        case .down, .cutOff, .dead:
            gates.at(2, .unitChanged("web.service", UnitStatus(.inactive)))
            try gates.confirmClosed(at: 3, "web.service")
        case .stuck: for second in 2...60 { gates.at(Double(second), .woke) }
        }
        if self != .cutOff { try host.at(299, answers: flags, version: version) }
        host.at(300, .woke)
        host.move(gates.machine)
        return host.text
    }
}

/// Hosts `web-1`, … with the metrics of a daemon, under the eyes of a Prometheus.
final class SimulatedFleet {
    private let prometheus: Prometheus

    var url: String { prometheus.url }

    init(_ count: Int, _ conduct: Conduct) async throws {
        prometheus = try await Prometheus(scraping: (1...count).map { "web-\($0)" })
        try set(conduct, 1...count)
        try startPrometheus()
    }

    func startPrometheus() throws { try prometheus.start() }

    func killPrometheus() throws { try prometheus.kill() }

    /// From now on these hosts behave so.
    func set(_ conduct: Conduct, _ numbers: ClosedRange<Int>...) throws {
        let metrics = try conduct.metrics()
        for number in numbers.joined() { try prometheus.show(metrics, on: "web-\(number)") }
    }

    /// Nothing answers on these hosts any more.
    func stop(_ numbers: ClosedRange<Int>) {
        for number in numbers { prometheus.turnOff("web-\(number)") }
    }

    /// The arguments of `killswitchctl fleet`.
    private func arguments(_ more: [String]) -> [String] {
        ["fleet", "shop", "--prometheus", url] + more
    }

    func fleet(_ more: String...) throws -> Program.Result {
        try Programs.run("killswitchctl", arguments(more))
    }

    func startFleet(_ more: String...) throws -> Program {
        try Program(try Programs.path(of: "killswitchctl"), arguments(more))
    }

    /// What it says of each host.
    func answers(_ more: String...) throws -> [String: String] {
        try told(more).reduce(into: [:]) { $0[$1["host"]?.string ?? ""] = $1["answer"]?.string }
    }

    /// What it prints of each host as JSON.
    func told(_ more: [String]) throws -> [JSON.Object] {
        let result = try Programs.run("killswitchctl", arguments(more + ["--json"]))
        return try JSON.Value.parse(result.output).object?.objects("hosts") ?? []
    }

    /// The instances in the answer to a query.
    func instances(_ query: String) throws -> Set<String> {
        let output = try Program.succeed(
            "/usr/bin/promtool", ["query", "instant", "--format=json", url, query])
        let samples = try JSON.Value.parse(output).array ?? []
        return Set(samples.compactMap { $0.object?["metric"]?.object?["instance"]?.string })
    }

    /// How many queries Prometheus has answered.
    func queries() throws -> Int {
        let metrics = try Program.run("/usr/bin/curl", ["--silent", "\(url)/metrics"]).output
        let name = #"prometheus_http_requests_total{code="200",handler="/api/v1/query"} "#
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }
}
