import CivilTime
import Decision
import Drills
import Gates
import Support

/// An answer to a drill, or a signal.
enum DrillAnswer {
    case ordered
    case status(OrderStatus)
    case standingUnknown(problem: String)
    case gateStuck(problem: String, OrderStatus)
    case listed([UnitName: UnitStatus])
    case read([UnitName: UnitSnapshot], problem: String?)
    case tried(ManualStart)
    case unitProblems([UnitName: String], problem: String?)
    case released(OrderStatus)
    case daemonUnreachable
    case woke
    case interrupted
    case failed(String)
}

/// A world whose answers are given. After the last one its time is over: it tells nothing more, and ends every wait.
final class StandInWorld: DrillWorld {
    private var answers: ArraySlice<(seconds: Double, answer: DrillAnswer)>
    private let shownFrom: Int?
    private var text = ""
    private var isOver = false
    private(set) var now = StandInWorld.time(0)
    var uptime: Uptime { Uptime(microseconds: now.microseconds - 900_000_000) }
    private(set) var signals: [Boottime] = []

    /// The text begins with the answer at `shownFrom`, if that is given.
    init(_ answers: [(seconds: Double, answer: DrillAnswer)], shownFrom: Int?) {
        self.answers = answers[...]
        self.shownFrom = shownFrom
    }

    /// All that was written down, to the findings if the drill has come to its end.
    func text(to findings: DrillFindings) -> String {
        for line in Self.lines(findings) { write(line) }
        return text
    }

    func printLine(_ line: String) { write("print \(line)") }

    func order() throws { _ = ask("order") }

    func orderStatus() -> DrillView {
        switch ask("read status") {
        case .status(let status): .status(status)
        case .gateStuck(let problem, let status): .stuck(problem: problem, status)
        case .standingUnknown(let problem): .unknown(problem: problem)
        default: .unknown(problem: "over")
        }
    }

    func list(_ units: [UnitName]) throws(DrillProblem) -> [UnitName: UnitStatus] {
        guard case .listed(let seen) = try answer("list") else { throw DrillProblem("over") }
        return seen
    }

    func read(_ units: [UnitName]) -> (units: [UnitName: UnitSnapshot], problem: String?) {
        let answer = ask("read \(units.map(\.text).joined(separator: " "))")
        return if case .read(let units, let problem) = answer { (units, problem) } else {
            ([:], nil)
        }
    }

    func tryStart(_ unit: UnitName, within limit: Duration) throws(DrillProblem) -> ManualStart {
        let answer = try answer("try to start \(unit) within \(Self.shown(limit))")
        guard case .tried(let start) = answer else { throw DrillProblem("over") }
        return start
    }

    func unitProblems() -> (units: [UnitName: String], problem: String?) {
        let answer = ask("read unit problems")
        return if case .unitProblems(let units, let problem) = answer { (units, problem) } else {
            ([:], nil)
        }
    }

    func release() throws(DrillProblem) -> OrderStatus? {
        if case .released(let status) = try answer("release") { status } else { nil }
    }

    func wait(_ time: Duration) throws(DrillProblem) { _ = try answer("wait \(Self.shown(time))") }

    /// Writes a line down that asks for no answer.
    private func write(_ line: String) {
        if !isOver { text += "    \(line)\n" }
    }

    private func answer(_ question: String) throws(DrillProblem) -> DrillAnswer? {
        let answer = ask(question)
        if case .failed(let problem) = answer { throw DrillProblem(problem) }
        return answer
    }

    /// Writes the question down with the next answer, after the signals before it; nil after the last one.
    private func ask(_ question: String) -> DrillAnswer? {
        while let (seconds, answer) = answers.first {
            if answers.startIndex == shownFrom { text = "" }
            answers.removeFirst()
            now = Self.time(seconds)
            guard case .interrupted = answer else {
                text += "\(secondsText(seconds)) \(question): \(Self.line(answer))\n"
                return answer
            }
            text += "\(secondsText(seconds)) interrupted\n"
            signals.append(now)
        }
        write(question)
        isOver = true
        now = Self.time(1e6)
        signals += [now, now]
        return nil
    }

    private static func time(_ seconds: Double) -> Boottime {
        Boottime(microseconds: 1_000_000_000 + Int64(seconds * 1_000_000))
    }

    private static func line(_ answer: DrillAnswer) -> String {
        switch answer {
        case .ordered, .woke: "done"
        case .status(let status), .released(let status): words(status)
        case .standingUnknown(let problem), .unitProblems(_, let problem?),
            .gateStuck(let problem, _):
            problem
        case .listed(let seen):
            seen.filter { GateTarget($0.key) == nil }.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.active.rawValue)" }.joined(separator: " ")
        case .read(let snapshots, let problem):
            snapshots.keys.sorted().map(\.text).joined(separator: " ")
                + (problem.map { ", then: \($0)" } ?? "")
        case .tried(let start): "\(start)"
        case .unitProblems(let problems, nil):
            problems.isEmpty
                ? "none"
                : problems.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: ", ")
        case .daemonUnreachable: "the daemon does not answer"
        case .interrupted: "interrupted"
        case .failed(let problem): "failed: \(problem)"
        }
    }

    private static func words(_ status: OrderStatus) -> String {
        switch status {
        case .ordered: "ordered"
        case .open: "open"
        case .kept: "kept"
        case .forced(let words): "forced: \(words)"
        case .closed(let cause): "closed: \(cause)"
        }
    }

    private static func lines(_ findings: DrillFindings) -> [String] {
        let words = [
            "finish: \(findings.isOpen ? "open" : "closed")",
            findings.closedFor.map { "closed for \(shown($0))" },
            findings.isInterrupted ? "interrupted" : nil, findings.problem,
        ]
        return [words.compactMap(\.self).joined(separator: ", ")]
            + findings.outcomes.map { outcome in
                let failures = outcome.failures.map {
                    $0.sentence(of: outcome.unit.name, in: findings.service)
                }
                return
                    ([
                        "\(outcome.unit.name): stop \(outcome.stop.map(shown) ?? "-")",
                        outcome.isRefused.map { $0 ? "refused" : "accepted" } ?? "-",
                        "start \(outcome.start.map(shown) ?? "-")",
                    ] + failures).joined(separator: ", ")
            }
    }

    private static func shown(_ time: Duration) -> String { "\(time.microseconds / 1000) ms" }
}
