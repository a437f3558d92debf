import CivilTime
import Decision
import Gates
import Testing

/// The real machine of gates in every state that it can reach beside a small systemd, breadth first.
///
/// The world is bounded by a budget: so many decisions, and so many disturbances at any moment between them. Where the
/// budget is spent the world is quiet, and has to come to rest as decided.
struct GateModelTests {
    struct Bounds: Sendable, CustomTestStringConvertible {
        let gate: Gate?
        let closing: DesiredGate
        let decisions: Int
        let disturbances: Int

        var testDescription: String {
            "\(gate?.rawValue ?? "just booted"), \(closing.state.rawValue), \(decisions) decisions, "
                + "\(disturbances) disturbances"
        }
    }

    /// A closed gate without a target of a state has fewer states, and so a larger budget.
    static let bounds: [Bounds] =
        [Gate.open, .closed].map {
            Bounds(gate: $0, closing: .closed, decisions: 1, disturbances: 1)
        }
        + [Gate.open, .closed, nil].flatMap { gate in
            [
                Bounds(gate: gate, closing: .closed, decisions: 2, disturbances: 0),
                Bounds(gate: gate, closing: .maintenance, decisions: 1, disturbances: 0),
            ]
        }

    @Test(.timeLimit(.minutes(10)), arguments: bounds)
    func everyReachableStateKeepsItsPromises(_ bounds: Bounds) {
        let host = ModelHost(
            bounds.gate, closing: bounds.closing, decisions: bounds.decisions,
            disturbances: bounds.disturbances)
        var search = ModelSearch(from: host)
        let violation = search.run(limit: 500_000)
        print("gates, \(bounds.testDescription): \(search.summary)")
        #expect(violation == nil, "\(violation ?? "")")
    }
}

extension DesiredGate {
    fileprivate static let closed = DesiredGate(gate: .closed, state: .undecided)
    static let running = DesiredGate(gate: .open, state: .running)
    fileprivate static let maintenance = DesiredGate(gate: .closed, state: .maintenance)
}

/// A breadth-first search of all states of a model host. It keeps the hash of each state that it has seen, and the step
/// that led there.
struct ModelSearch {
    private var seen: [Int: Int] = [:]
    private var cameFrom: [(state: Int, step: ModelStep)?] = []
    /// The state that a quiet world reaches next, by the number of the state; nil at rest.
    private var quietNext: [Int?] = []
    private var frontier: [(number: Int, host: ModelHost)] = []
    private var steps = 0
    private var restCount = 0

    init(from host: ModelHost) { _ = visit(host, from: nil) }

    var summary: String { "\(seen.count) states, \(steps) steps, \(restCount) at rest" }

    /// Visits every state. Returns the first violation with the steps that lead to it; nil if there is none.
    mutating func run(limit: Int) -> String? {
        while !frontier.isEmpty {
            let level = frontier
            frontier = []
            for (number, host) in level {
                if let problem = expand(number, host) { return problem }
            }
            if seen.count > limit { return "more than \(limit) states" }
        }
        return quietCycle.map { trace(to: $0, "goes round in circles") }
    }

    private mutating func expand(_ number: Int, _ host: ModelHost) -> String? {
        let usual = host.usualSteps
        if usual.isEmpty {
            restCount += 1
            if let problem = host.unsettled { return trace(to: number, problem) }
        }
        for (place, step) in (usual + host.unusualSteps).enumerated() {
            steps += 1
            let next = host.after(step)
            let reached = visit(next, from: (number, step))
            if place == 0, !usual.isEmpty { quietNext[number] = reached }
            if let problem = next.violation { return trace(to: reached, problem) }
            if next.now > Boottime(microseconds: 7_200_000_000) {
                return trace(to: reached, "has not come to rest in two hours")
            }
        }
        return nil
    }

    private mutating func visit(_ host: ModelHost, from: (Int, ModelStep)?) -> Int {
        let hash = host.hashValue
        if let number = seen[hash] { return number }
        let number = seen.count
        seen[hash] = number
        cameFrom.append(from.map { (state: $0.0, step: $0.1) })
        quietNext.append(nil)
        frontier.append((number, host))
        return number
    }

    /// A state from which a quiet world never comes to rest; nil if there is none.
    private var quietCycle: Int? {
        var isFine = [Bool](repeating: false, count: quietNext.count)
        for start in quietNext.indices {
            var path: [Int] = []
            var place: Int? = start
            while let number = place, !isFine[number] {
                if path.count > quietNext.count { return start }
                path.append(number)
                place = quietNext[number]
            }
            for number in path { isFine[number] = true }
        }
        return nil
    }

    private func trace(to state: Int, _ problem: String) -> String {
        var lines: [String] = []
        var place = state
        while let (before, step) = cameFrom[place] {
            lines.append("\(step)")
            place = before
        }
        return (lines.reversed() + [problem]).joined(separator: "\n")
    }
}
