import CivilTime
import Decision
import EventLoop
import Gates
import JSON
import Storage

/// Waits for the effect of an order on gates and units, by the daemon's files. What happened before the order
/// does not count.
final class GateWatcher {
    private let published: PublishedFiles
    private let loop: EventLoop
    private let began: Boottime
    /// Whether to print the units and the progress.
    private let isVerbose: Bool
    private let before: GatesBefore
    /// The services whose gates are not there yet, with the daemon's answers: the objects of `state.json`.
    private var awaited: [(service: ServiceName, answer: JSON.Object)]
    private var printed: Set<String> = []
    private var problems: [String] = []
    private var files: [PathWatch] = []

    /// Follows the gates of the services in these answers of the daemon.
    init(
        _ answers: [ServiceName: JSON.Object], since before: GatesBefore,
        in published: PublishedFiles, isVerbose: Bool
    ) throws {
        self.published = published
        self.isVerbose = isVerbose
        self.before = before
        awaited = answers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        loop = try EventLoop()
        began = loop.now.boot
        files = awaited.flatMap { service, _ in
            [FileName.state, FileName.gate, FileName.units].map { name in
                PathWatch(loop, path: "\(published.directory)/\(service)/\(name)") {}
            }
        }
    }

    /// Waits until each gate is as ordered, or cannot be moved, or a unit has passed its limit. Returns the
    /// problems, a line each.
    func run() throws -> [String] {
        defer { Terminal.showProgress(nil) }
        while true {
            try awaited.removeAll { try isFinished($0.service, $0.answer) }
            if awaited.isEmpty { return problems }
            if isVerbose { Terminal.showProgress(progress) }
            // Each second on a terminal, for the progress. Also without a watch that the kernel has left.
            let isPolling = Terminal.showsProgress || files.contains { $0.problem != nil }
            try loop.runOnce(.seconds(isPolling ? 1 : 3600))
        }
    }

    /// Whether there is nothing more to wait for: the order has had its effect, or cannot have it.
    private func isFinished(_ service: ServiceName, _ answer: JSON.Object) throws -> Bool {
        guard let state = try published.state(of: service) else {
            return finish(service, "it is not configured any more, and its gate stays as it is")
        }
        guard let gate = wantedGate(of: state, after: answer) else {
            return finish(service, "the order has not lasted: \(state.object.text("reason_text"))")
        }
        let shown = ShownGate(gate, published.gate(of: service), at: loop.now.wall)
        guard state.gate == gate, let report = shown.published, report.wanted == gate else {
            return false
        }
        guard let actual = report.actual else {
            return finish(service, ShownGate.noGates)
        }
        let units = try published.units(of: service)
        try printUnits(units, of: service, as: gate)
        let isThere = actual.rawValue == gate.rawValue
        let wasThere = isThere && before.gates[service]?.isSame(as: report) == true
        let old = before.troubles(of: service, in: units, isGateOld: wasThere)
        let new = report.unitProblems.filter { !old.contains($0) }
        guard new.isEmpty else {
            problems += new.map { "\(service): \($0)" }
            return true
        }
        if report.isStuck(on: gate) { return finish(service, shown.problem ?? "") }
        guard isThere else { return false }
        for trouble in report.unitProblems {
            try printIfVerbose("\(service): \(trouble); that was before this order")
        }
        try printIfVerbose("\(service): its gate is \(shown.words ?? actual.rawValue)")
        return true
    }

    /// The gate that the order leads to: the gate of the present decision, or the open gate if that waits to
    /// open. Nil if the order is over, or another took its place, and the gate is another now.
    private func wantedGate(of state: PublishedState, after answer: JSON.Object) -> Gate? {
        let ordered = Self.goal(of: answer)
        guard let present = Self.goal(of: state.object) else { return ordered }
        let isInForce = state.object["override"] == answer["override"]
        return isInForce || present == ordered ? present : nil
    }

    /// The gate to which a state leads by itself; nil while the service is undecided.
    private static func goal(of state: JSON.Object) -> Gate? {
        let waiting: [Reason.Slug] = [.minClosed, .reopening]
        if waiting.contains(where: { $0.rawValue == state.text("reason") }) { return .open }
        return state["gate"]?.string.flatMap(Gate.init)
    }

    private func finish(_ service: ServiceName, _ problem: String) -> Bool {
        problems.append("\(service): \(problem)")
        return true
    }

    private func printUnits(_ units: [JSON.Object], of service: ServiceName, as gate: Gate) throws {
        let isMoved = { [before] in !before.has($0, of: service) }
        for unit in units where unit.isAsWanted && isMoved(unit) {
            guard unit["wanted"]?.bool == (gate == .open) else { continue }
            let time = unit["took_ms"]?.number.map { " after \($0.literal) ms" } ?? ""
            let line = "\(service): \(unit.text("name")) is \(gate == .open ? "up" : "down")\(time)"
            if printed.insert("\(service)/\(unit.text("name"))").inserted {
                try printIfVerbose(line)
            }
        }
    }

    private func printIfVerbose(_ line: String) throws {
        guard isVerbose else { return }
        Terminal.showProgress(nil)
        printLine(line)
        try flushOutput()
    }

    private var progress: String {
        let gates = awaited.prefix(Self.shown).map { service, _ in
            let gate = published.gate(of: service)
            return "\(service) \(ShownGate(gate?.wanted, gate, at: loop.now.wall).word)"
        }
        let more = awaited.count > gates.count ? ["\(awaited.count - gates.count) more"] : []
        let time = (loop.now.boot - began).wholeSeconds
        return "waiting \(time) s: " + (gates + more).joined(separator: ", ")
    }

    private static let shown = 3
}

/// The gates and units of services before an order, to tell its effect from what happened earlier.
struct GatesBefore {
    /// The gates, as far as they were known.
    private(set) var gates: [ServiceName: PublishedGate] = [:]
    private var units: [ServiceName: Set<[JSON.Value?]>] = [:]

    /// Reads the files of these services.
    init(of services: [ServiceName], in published: PublishedFiles) throws {
        for service in services {
            gates[service] = published.gate(of: service)
            units[service] = Set(try published.units(of: service).map(Self.facts))
        }
    }

    /// Whether a unit had come into its state before, with the same problem or none.
    func has(_ unit: JSON.Object, of service: ServiceName) -> Bool {
        units[service]?.contains(Self.facts(unit)) == true
    }

    /// The problems of units in the words of `gate.json` that are older than the order and not in its way: units
    /// that are down or up as they should be, and all units of a gate that stands as before.
    func troubles(
        of service: ServiceName, in present: [JSON.Object], isGateOld: Bool
    ) -> Set<String> {
        let old = present.filter { has($0, of: service) && ($0.isAsWanted || isGateOld) }
        return Set(
            old.compactMap { unit in
                unit["problem"]?.string.map { "unit '\(unit.text("name"))': \($0)" }
            })
    }

    private static func facts(_ unit: JSON.Object) -> [JSON.Value?] {
        ["name", "active", "since", "problem"].map { unit[$0] }
    }
}

extension PublishedGate {
    /// Whether the gate stands as in another report: it was not moved in between.
    fileprivate func isSame(as other: PublishedGate) -> Bool {
        (wanted, actual) == (other.wanted, other.actual) && object["since"] == other.object["since"]
    }
}
