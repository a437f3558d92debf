import CivilTime
import Decision
import Gates
import Support

/// A gate machine to which transcripts are played.
///
/// The head of a transcript may have the names of its `services` (without it, `shop`), and which effects it `shows`
/// beside the others. With `settled` the machine has a bus, and the gate of the shop is settled in this state, with
/// these `units`, which have ten seconds to stop; the events that lead there are not in the text.
///
/// A line that ends with a question mark is no event: it asks the machine.
struct TranscribedGates: TranscribedWorld {
    /// Effects that are in the text only if the head says so: there are many of them.
    enum Show: String {
        /// What is asked of systemd: what to read and to subscribe to.
        case requests
        /// `targets`.
        case targets
        /// `units.json`.
        case rows
        /// `gate.json`.
        case gates
        /// The next wake-up.
        case wakes
    }

    private(set) var machine: GateMachine
    let shows: [Show]

    init(head text: String) throws {
        let head = try HeadLines(text, keys: ["services", "shows", "settled", "units"])
        let services: [ServiceName] = try head.values("services") { try named($0) }
        machine = GateMachine(services: services.isEmpty ? ["shop"] : services)
        shows = try head.values("shows", Show.init)
        if let state = try head.value("settled", State.init) {
            try settle(state, head.values("units", Self.reading))
        }
    }

    /// A machine whose head has nothing but this.
    init(settled state: String, units: String...) throws {
        let list = units.map { "\"\($0)\"" }.joined(separator: ", ")
        try self.init(head: "settled = \"\(state)\"\nunits = [\(list)]")
    }

    /// How systemd shows a unit of the head, such as `web.service active`.
    private static func reading(_ unit: String) throws -> String {
        let line = unit.replacing(" ", with: " read: ", maxReplacements: 1) + ", stop limit 10s"
        _ = try GateEvent(line: line)
        return line
    }

    private mutating func settle(_ state: State, _ units: [String]) throws {
        let (gate, other) = state == .running ? ("open", "closed") : ("closed", "open")
        let targets = state == .running ? [gate] : [gate, state.rawValue]
        let names = units.map { " " + $0.prefix { $0 != " " } }.joined()
        let starts = names.isEmpty ? "" : ", starts\(names)"
        let lines = [
            "started",
            "targets listed: "
                + targets.map { "killswitch-\($0)@shop.target active" }.joined(separator: ", "),
            "shop decided: \(gate) \(state.rawValue)",
            "killswitch-\(gate)@shop.target read: active" + (gate == "open" ? starts : ""),
            "killswitch-\(other)@shop.target read: inactive" + (other == "open" ? starts : ""),
        ]
        let states = targets.dropFirst().map { "killswitch-\($0)@shop.target read: active" }
        try play(lines + states + units, at: 0)
    }

    @discardableResult
    mutating func play(_ lines: [String], at seconds: Double) throws -> [String] {
        try lines.flatMap { try play($0, at: seconds) }
    }

    @discardableResult
    mutating func play(_ line: String, at seconds: Double) throws -> [String] {
        let now = Self.time(seconds)
        if line.hasSuffix("?") { return try answer(line, at: now) }
        return machine.handle(try GateEvent(line: line), at: now).compactMap {
            text(of: $0, since: now)
        }
    }

    /// What the machine says of itself.
    private func answer(_ question: String, at now: Boottime) throws -> [String] {
        switch question {
        case "ready?": return [machine.overview.isReady ? "yes" : "no"]
        case "attached?":
            return [machine.attachmentOutcome(at: now) == nil ? "not yet" : "as far as possible"]
        case "problems?":
            let problems = machine.overview.findings.map { problem in
                let since = problem.since.map {
                    secondsText(Double(($0 - Self.time(0)).microseconds) / 1e6)
                }
                return
                    "\(problem.isAlarm ? "alarm" : "problem") since \(since ?? "-"): \(problem.sentence)"
            }
            return problems.isEmpty ? ["none"] : problems
        case "shop unavailable?":
            let isUnavailable = machine.report(of: "shop", at: now)?.isUnavailable
            return [isUnavailable.map { $0 ? "yes" : "no" } ?? "unknown"]
        case "shop gate?":
            guard let report = machine.report(of: "shop", at: now) else { return ["unknown"] }
            let problems = report.units.problems.sorted { $0.key < $1.key }
            return [Self.text(of: report, now)] + problems.map { "\($0.key): \($0.value.sentence)" }
                + (report.problem.map { [$0.advice] } ?? [])
        default: throw TestFailure("'\(question)' is no question")
        }
    }

    static func time(_ seconds: Double) -> Boottime {
        Boottime(microseconds: 1_000_000_000 + Int64((seconds * 1_000_000).rounded()))
    }
}
