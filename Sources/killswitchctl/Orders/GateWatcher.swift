import CivilTime
import Decision
import EventLoop
import Gates
import JSON
import Storage

/// Waits for the effect of an order on gates and units, by the daemon's files. What was so before does not count.
final class GateWatcher {
    private let published: PublishedFiles
    private let loop: EventLoop
    private let isVerbose: Bool
    /// The gates and units before the order, as far as they were known.
    private var gatesBefore: [ServiceName: PublishedGate] = [:]
    private var unitsBefore: [ServiceName: Set<[JSON.Value?]>] = [:]
    /// The services whose gates are not there yet, with the daemon's answers: the objects of `state.json`.
    private var awaited: [(service: ServiceName, answer: JSON.Object)] = []
    private var printed: Set<String> = []
    private var problems: [String] = []

    /// Reads how the gates and units of these services stand before an order.
    init(before services: [ServiceName], in published: PublishedFiles, isVerbose: Bool) throws {
        self.published = published
        self.isVerbose = isVerbose
        loop = try EventLoop()
        for service in services {
            gatesBefore[service] = published.gate(of: service)
            unitsBefore[service] = Set(try published.units(of: service).map(Self.facts))
        }
    }

    /// Waits until each gate is as these answers say, or cannot be, or a unit is late. Returns the problems.
    /// Throws after `limit`.
    func run(
        after answers: [ServiceName: JSON.Object], within limit: Duration?
    ) throws -> [String] {
        awaited = answers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let stream = try PublishedStream(of: awaited.map(\.service), in: published, on: loop)
        let done = try stream.until(
            limit, progress: isVerbose ? { self.progress(after: stream.elapsed) } : nil
        ) {
            try awaited.removeAll { try isFinished($0.service, $0.answer) }
            return awaited.isEmpty ? problems : nil
        }
        if let done { return done }
        throw CommandFailure(
            .timedOut,
            "the order is given, but not yet carried out: \(progress(after: limit ?? .zero))")
    }

    /// Whether there is nothing more to wait for: the order has had its effect, or cannot have it.
    private func isFinished(_ service: ServiceName, _ answer: JSON.Object) throws -> Bool {
        guard let state = try published.state(of: service) else {
            return finish(service, "it is not configured any more, and its gate stays as it is")
        }
        guard let gate = wantedGate(of: state, after: answer) else {
            return finish(service, "the order has not lasted: \(state.object.text("reason_text"))")
        }
        let shown = published.gate(of: service, beside: gate, at: loop.now.wall)
        guard state.gate == gate, let report = shown.published, report.wanted == gate else {
            return false
        }
        guard let actual = report.actual else {
            return finish(service, shown.whyUnmoved ?? ShownGate.noGates)
        }
        let units = try published.units(of: service)
        try printUnits(units, of: service, as: gate)
        let isThere = actual.rawValue == gate.rawValue
        let before = gatesBefore[service]
        let wasThere =
            isThere && before?.wanted == report.wanted && before?.actual == actual
            && before?.object["since"] == report.object["since"]
        let old = oldProblems(of: service, in: units, isGateOld: wasThere)
        let new = report.unitProblems.filter { !old.contains($0) }
        guard new.isEmpty else {
            problems += new.map { "\(service): \($0)" }
            return true
        }
        if report.isStuck(on: gate) { return finish(service, shown.problem ?? "") }
        guard isThere else { return false }
        for problem in report.unitProblems {
            try printIfVerbose("\(service): \(problem); that was before this order")
        }
        try printIfVerbose("\(service): its gate is \(shown.words ?? actual.rawValue)")
        return true
    }

    /// The gate that the order leads to: that of the present decision, or open if that waits to open. Nil if the order
    /// is over or replaced, and the gate is another now.
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
        for unit in units where unit.isAsWanted && !isOld(unit, of: service) {
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

    private func progress(after time: Duration) -> String {
        let gates = awaited.prefix(3).map { service, _ in
            let wanted = published.gate(of: service)?.wanted
            let gate = published.gate(of: service, beside: wanted, at: loop.now.wall)
            return "\(service) \(gate.word)"
        }
        return "waiting \(time.wholeSeconds) s: "
            + gates.andMore(of: awaited.count).joined(separator: ", ")
    }

    /// Whether a unit had come into its state before, with the same problem or none.
    private func isOld(_ unit: JSON.Object, of service: ServiceName) -> Bool {
        unitsBefore[service]?.contains(Self.facts(unit)) == true
    }

    /// The problems of units, as `gate.json` words them, that are older than the order and not in its way: of units
    /// that are as they should be, and of all units of a gate that stands as before.
    private func oldProblems(
        of service: ServiceName, in present: [JSON.Object], isGateOld: Bool
    ) -> Set<String> {
        let old = present.filter { isOld($0, of: service) && ($0.isAsWanted || isGateOld) }
        return Set(
            old.compactMap { unit in
                unit["problem"]?.string.map { "unit '\(unit.text("name"))': \($0)" }
            })
    }

    private static func facts(_ unit: JSON.Object) -> [JSON.Value?] {
        ["name", "active", "since", "problem"].map { unit[$0] }
    }
}
