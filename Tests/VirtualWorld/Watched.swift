import CivilTime
import Decision
import Gates

/// A service of a world: what was published of it, and its oracle.
struct Watched {
    let name: ServiceName
    private(set) var oracle: StepsOracle
    /// What was published last.
    private(set) var record: PublishedVerdict?
    /// When time alone next changes what has to be true.
    private(set) var edge: Instant
    /// Whether something has happened since the last look.
    private var isTouched = true

    init(_ name: ServiceName, _ oracle: StepsOracle, at start: Instant) {
        self.name = name
        self.oracle = oracle
        edge = start
    }

    /// A source gives an edition, or confirms it.
    mutating func answered(
        _ edition: Int, _ saying: Edition.Saying, of source: Int, at time: Instant
    ) {
        if oracle.answered(edition, saying, of: source, at: time) { isTouched = true }
    }

    mutating func publish(_ record: PublishedVerdict, _ chronicle: inout Chronicle) {
        if record.verdict.state != self.record?.verdict.state { chronicle.changes += 1 }
        self.record = record
        isTouched = true
    }

    mutating func publish(_ order: StepsOracle.Order?) {
        oracle.publish(order)
        isTouched = true
    }

    mutating func wake(at time: Instant) {
        oracle.wake(at: time)
        isTouched = true
    }

    /// The disk has what is needed of it after a restart.
    mutating func store() { oracle.store() }

    /// A new daemon has started with what the disk has. `bootedAt`: when the host has booted before; nil if it has not.
    mutating func restart(
        at time: Instant, bootedAt: Instant?, _ order: StepsOracle.Order?,
        _ received: [Oracle.Received?]
    ) {
        oracle.restart(at: time, bootedAt: bootedAt, order, received)
        isTouched = true
    }

    /// Compares what was published, and its gate, with the oracle if anything may have changed. Returns what is wrong.
    mutating func check(
        at now: Now, _ gates: StandInGates, hasMoved: Bool, _ chronicle: inout Chronicle
    ) -> [String] {
        guard isTouched || hasMoved || now.wall >= edge else { return [] }
        isTouched = false
        for event in oracle.check(at: now.wall) { chronicle.record(step: event) }
        edge = oracle.nextEdge(after: now.wall)
        let right = oracle.present
        guard right.state != .undecided else { return [] }
        let problems = problems(right, at: now) + gateProblems(right, gates, at: now)
        return problems.map { "\(name): \($0)" }
    }

    private func problems(_ right: StepsOracle.Present, at now: Now) -> [String] {
        guard let record else { return ["nothing is published"] }
        var problems: [String] = []
        func expect<Value: Equatable>(_ what: String, _ is: Value, _ right: Value) {
            if `is` != right { problems.append("\(what) is \(`is`) and not \(right)") }
        }
        expect("the state", record.verdict.state, right.state)
        if let days = right.daysLeft { expect("days left", record.verdict.daysLeft, days) }
        let drain = record.drainsUntil.map { now.wall + ($0 - now.boot) }
        expect("the end of the drain", Self.ahead(drain, at: now), Self.ahead(right.drain, at: now))
        guard oracle.isDecided else { return problems }
        var turn: Instant?
        if case .reopening(_, let time) = record.verdict.reason { turn = time.instant }
        expect("its turn", turn?.microseconds, right.turn?.microseconds)
        return problems
    }

    /// A time that has not come, in microseconds; nil for the others.
    private static func ahead(_ time: Instant?, at now: Now) -> Int64? {
        time.flatMap { $0 > now.wall ? $0.microseconds : nil }
    }

    private func gateProblems(
        _ right: StepsOracle.Present, _ gates: StandInGates, at now: Now
    ) -> [String] {
        let isUp = oracle.areUnitsUp
        guard gates.isUnitUp(name) == isUp else { return ["its unit is \(isUp ? "down" : "up")"] }
        guard gates.isUp(.open, of: name) == isUp, gates.isUp(.closed, of: name) != isUp else {
            return ["its targets are not \(isUp ? "open" : "closed")"]
        }
        let isDraining = right.drain.map { now.wall < $0 } ?? false
        let actual: GateStatus.Actual = isDraining ? .closing : isUp ? .open : .closed
        let report = gates.reports[name]
        guard report?.actual == actual, (report?.drainsUntil != nil) == isDraining else {
            return ["its gate is told to be \(report?.actual?.rawValue ?? "?") and not \(actual)"]
        }
        return []
    }
}

/// An operator who gives and releases orders at random, and rehearses closings.
struct Operator {
    enum Deed {
        /// An order; `ifOpen` rejects it unless the gate is open without another.
        case order(Override, ifOpen: Bool)
        case release
    }

    /// The next deed, at `now`.
    static func deed(at now: Instant, using random: inout SeededRandom) -> Deed? {
        let isDrill = Int.random(in: 0..<4, using: &random) == 0
        let state: State =
            isDrill
            ? .maintenance
            : [.running, .maintenance, .ended].randomElement(using: &random)
                ?? .running
        let isEndless = !isDrill && Int.random(in: 0..<5, using: &random) == 0
        let until =
            isEndless ? nil : now + .seconds(Int64.random(in: 60...20_000, using: &random))
        guard Int.random(in: 0..<3, using: &random) > 0 else { return .release }
        return Override(
            state: state, cause: isDrill ? "a drill" : "an order", author: "root", since: now,
            until: until, isUrgent: isDrill || Bool.random(using: &random)
        ).map { .order($0, ifOpen: isDrill) }
    }
}

extension StepsOracle.Order {
    /// An order as the daemon has it.
    init(_ override: Override) {
        self.init(state: override.state, until: override.until, isUrgent: override.isUrgent)
    }
}
