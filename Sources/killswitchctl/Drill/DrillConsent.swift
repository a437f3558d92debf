import CivilTime
import Decision
import Glibc

/// The question before a drill. It is asked only at a terminal: a script cannot answer.
struct DrillConsent {
    private let plan: DrillPlan
    private let limit: Duration

    /// The question about a drill that closes the gate for `limit` at most.
    init(_ plan: DrillPlan, for limit: Duration) {
        self.plan = plan
        self.limit = limit
    }

    /// Throws unless the user at the terminal agrees.
    func ask() throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        for line in lines { printError(line) }
        Terminal.prompt("close the gate now? [y/N] ")
        let answer = readLine()?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw CommandFailure(.no, "nothing was changed")
        }
    }

    private var lines: [String] {
        var lines = LabelledLines()
        let names = { (units: [DrilledUnit]) -> String? in
            units.isEmpty ? nil : units.map(\.name.text).joined(separator: ", ")
        }
        let attached = plan.attached
        let others = plan.units.filter { $0.kind != .attached && $0.kind != .state }
        lines.add("  stops", names(attached.filter(\.wasUp)))
        lines.add("  stops with that", names(others))
        lines.add("  is down, and is started", names(attached.filter { !$0.wasUp && $0.isStarted }))
        lines.add(
            "  runs meanwhile", names(plan.units.filter { $0.kind == .state && $0.isStarted }))
        return [
            "a drill closes '\(plan.service)' for at most \(limit.wholeSeconds) s, as "
                + "\(plan.state.rawValue):", lines.text,
        ]
    }
}
