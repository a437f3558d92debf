import CivilTime
import Decision
import JSON
import Metrics

/// What Prometheus knows of one target that it scrapes: the samples of one host.
struct PrometheusTarget {
    struct Address: Hashable {
        let instance: String
        let job: String
    }

    private var values: [Metric: Double] = [:]
    private var marks: [PrometheusQuery.Mark: Double] = [:]
    private var states: [State] = []
    private var reasons: [String] = []
    private var versions: [String] = []
    private var unwanted: [String] = []
    private var hasProblem = false
    /// The sources whose flags are old or missing, as clauses.
    private var oldSources: [String] = []
    /// Its names by the node exporter.
    private(set) var names: [String] = []
    /// Why its samples cannot be those of one host; nil if they can.
    private var conflict: String?

    var name: String? { names.count == 1 ? names[0] : nil }

    /// Whether a sample shows that the host has the service, or had it lately. Problems are asked of all hosts.
    var hasService: Bool { marks[.seen] != nil || !states.isEmpty || values[.gateOpen] != nil }

    private static let metrics = Metric.allCases.reduce(into: [:]) { $0[$1.name] = $1 }

    /// Adds a sample with its labels.
    mutating func add(_ labels: [String: String], _ text: String) {
        guard let number = Double(text), number.isFinite else {
            conflict = "a number of it is '\(text.printable(limit: 20))'"
            return
        }
        if let mark = labels[PrometheusQuery.label].flatMap(PrometheusQuery.Mark.init(rawValue:)) {
            return add(mark, labels, number)
        }
        guard let metric = labels["__name__"].flatMap({ Self.metrics[$0] }) else { return }
        switch metric {
        case .serviceState:
            states += labels["state"].flatMap { State(rawValue: $0) }.map { [$0] } ?? []
        case .reasonInfo: reasons.append(labels["reason"] ?? "")
        case .flagsInfo: versions.append(labels["version"] ?? "")
        case .unitUnwanted: unwanted.append((labels["unit"] ?? "").printable(limit: 128))
        case .problems: hasProblem = true
        default: check(isNew: values.updateValue(number, forKey: metric) == nil, metric.name)
        }
    }

    private mutating func add(
        _ mark: PrometheusQuery.Mark, _ labels: [String: String], _ number: Double
    ) {
        let source = (labels["source"] ?? "").printable(limit: 64)
        switch mark {
        case .named:
            let name = labels["nodename"] ?? ""
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        case .old: oldSources.append("the flags of source '\(source)' are \(seconds(number)) old")
        case .missing: oldSources.append("source '\(source)' has given no flags yet")
        case .scraped, .seen, .behind:
            check(isNew: marks.updateValue(number, forKey: mark) == nil, Metric.alive.name)
        }
    }

    private mutating func check(isNew: Bool, _ name: String) {
        if !isNew { conflict = "Prometheus has two values of '\(name)' for it" }
    }

    /// The longest time between two signs of life, and from a scrape to the answer. The alert KillswitchDaemonGone and
    /// the dashboard have the same limit.
    private static let longestSilence = 90.0
    /// How far the clock of a host may be ahead of that of Prometheus.
    private static let clockDifference = 60.0

    /// What is known of the host at the time of the answer.
    func content(at time: Instant, startedAt start: Instant?) -> HostFinding.Content {
        let now = Double(time.microseconds) / 1_000_000
        if let conflict { return .unknown(conflict) }
        guard let alive = values[.alive], let scraped = marks[.scraped] else {
            let age = marks[.seen].map { ", its last sign of life was \(seconds(now - $0)) ago" }
            return .silent("Prometheus has no metrics of it any more\(age ?? "")")
        }
        guard scraped - alive <= Self.longestSilence else {
            return .silent("its last sign of life was \(seconds(now - alive)) ago")
        }
        guard alive - scraped <= Self.clockDifference else {
            return .unknown("its clock is \(seconds(alive - scraped)) ahead of that of Prometheus")
        }
        guard now - scraped <= Self.longestSilence else {
            return .unknown("Prometheus has not scraped it for \(seconds(now - scraped))")
        }
        guard scraped - now <= Self.clockDifference else {
            return .unknown("Prometheus has scraped it \(seconds(scraped - now)) after its answer")
        }
        if let start, let scrape = Instant(prometheus: scraped), scrape < start {
            return .unknown("Prometheus has not scraped it since it was started")
        }
        guard states.count == 1, reasons.count <= 1, versions.count <= 1 else {
            return .unknown("Prometheus knows \(states.count) states of it")
        }
        return account(at: now, alive: alive)
    }

    private func account(at now: Double, alive: Double) -> HostFinding.Content {
        let gate: Gate?
        switch values[.gateWantedOpen] {
        case nil: gate = values[.wouldClose].map { $0 == 0 ? .open : .closed }
        case 0: gate = .closed
        case 1: gate = .open
        case let other?: return .unknown("'\(Metric.gateWantedOpen.name)' is \(other)")
        }
        let version = versions.first.flatMap { $0.isEmpty ? nil : $0.printable(limit: 128) }
        let isHeld = values[.closingHeld] == 1
        return .account(
            HostAccount(
                state: states[0], gate: gate, reason: reasons.first?.printable(limit: 64),
                version: version, effect: effect(of: gate, at: now),
                warning: oldSources.sorted().first,
                obstacle: isHeld
                    ? "the host guard holds its closing until 'killswitchctl confirm'" : nil,
                at: Instant(prometheus: alive)))
    }

    private func effect(of gate: Gate?, at now: Double) -> HostAccount.Effect {
        guard values[.movesGates] != 0 else { return .withoutGates }
        guard values[.wouldClose] == nil else { return .observed }
        guard let isOpen = values[.gateOpen], let count = values[.unitsUnwanted], let gate else {
            return .unknown("killswitchd there does not tell how its gate is")
        }
        guard isOpen == 0 || isOpen == 1 else {
            return .unknown("'\(Metric.gateOpen.name)' is \(isOpen)")
        }
        guard count >= 0 else {
            return .unknown("'\(Metric.unitsUnwanted.name)' is \(count)")
        }
        guard (isOpen == 1) != (gate == .open) || count > 0 else {
            return values[.movesGates] == 1
                ? .complete : .unknown("Prometheus does not know whether killswitchd moves gates")
        }
        if let end = values[.drainEnd], end > now {
            return .underWay("its units run on for \(seconds(end - now)) (drain)")
        }
        let rest = unwanted.sorted()
        let direction = gate == .open ? "down" : "up"
        let more = count > 1 ? ", and \(Int64(clamping: Int(min(count, 1e9)) - 1)) more" : ""
        let why =
            rest.first.map { "unit '\($0)' is \(direction)\(more)" }
            ?? "its gate is not \(gate.rawValue) yet"
        // A problem of the host is one of this gate if no other gate of the host is behind.
        return hasProblem && (marks[.behind] ?? 1) <= 1 ? .failed(why) : .underWay(why)
    }
}

/// A time in whole seconds, for people.
private func seconds(_ number: Double) -> String {
    "\(Int64(max(0, min(number, 1e15)).rounded())) s"
}
