import ArgumentParser
import CivilTime
import ControlSocket
import Decision
import Drills
import EventLoop
import Gates
import Glibc
import JSON
import Storage
import SystemdUnits
import _StringProcessing

/// `killswitchctl drill SERVICE`
struct Drill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Test the switch: close the gate briefly, watch the units, open it again.",
        discussion: """
            The service is DOWN meanwhile. Times the stop of each attached unit and its dependents, \
            tries to start each unit by hand (this must fail), opens the gate as soon as all have \
            stopped, times each start. Exit status: 1 if anything failed.

            The gate always reopens by itself: the drill is a 'force' order that ends after --for. \
            'status' shows the result; for a monthly drill enable killswitch-drill@SERVICE.timer.

            example: killswitchctl drill shop --for 30s
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: "The longest that the gate stays closed, in whole seconds, such as 30s or 2m.",
        transform: DurationArgument.read)
    var limit = DurationArgument(.seconds(10))

    @Option(help: "The state to rehearse: maintenance, update-required or ended.")
    var state: State = .maintenance

    @Flag(name: .customLong("yes"), help: "Do not ask for confirmation.") var isAgreed = false

    @Flag(help: "Print JSON.") var json = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    func validate() throws {
        let time = limit.duration
        guard time >= .seconds(1), time <= .seconds(600), time == .seconds(time.wholeSeconds) else {
            throw ValidationError("--for is 1s to 10m, in whole seconds")
        }
    }

    func run() throws {
        try requireRoot(
            "drill",
            because: "other users may not start units at all, so the test by hand would "
                + "prove nothing")
        let published = try PublishedFiles(common)
        let order = DrillOrder(
            service: service, state: state, limit: limit.duration,
            daemon: published.daemon(timeout: .seconds(5)))
        try published.requireDaemon()
        let stand = try decisionIfDrillIsAllowed(published.known(service).object)
        let loop = try EventLoop()
        let manager = try BlockingSystemdClient(on: loop)
        if let problem = published.gate(of: service, beside: nil).problem {
            throw CommandFailure("'\(service)': \(problem)")
        }
        let plan = try DrillPlan(of: service, from: stand, to: state, describe: manager.snapshot)
        try check(plan)
        if !isAgreed { try askForConsent(to: plan) }
        let drilling = DrillDriver(plan, by: order, with: manager, on: loop, published)
        let findings = try drilling.run()
        if json { printJSON(.object(findings.json)) } else { printLines(findings.text) }
        try flushOutput()
        if let signal = drilling.interruption {
            if let summary = findings.failure { printError(summary) }
            throw CommandEnd(end: .killed(signal))
        }
        order.sendResult(of: findings)
        if let summary = findings.failure { throw CommandFailure(summary) }
    }

    /// Refuses before the question a drill that the daemon would refuse when it takes the order.
    private func decisionIfDrillIsAllowed(_ state: JSON.Object) throws -> DesiredGate {
        if let override = state["override"]?.object {
            throw MethodError.alreadyForced(service, override)
        }
        let word = State(rawValue: state.text("state")) ?? .undecided
        guard state.text("gate") == Gate.open.rawValue else {
            throw MethodError.gateNotOpen(service, word)
        }
        if state.text("reason") == Reason.Slug.closingHeld.rawValue {
            throw MethodError.closingHeld(service)
        }
        return DesiredGate(gate: .open, state: word, variant: state["variant"]?.string)
    }

    private func check(_ plan: DrillPlan) throws {
        guard !plan.attached.isEmpty else {
            throw CommandFailure(
                "no unit is attached to the open gate of '\(service)'; "
                    + "'killswitchctl attach \(service) UNIT' attaches one")
        }
        guard plan.openTargetBefore.seen.active == .active else {
            throw CommandFailure(
                "\(plan.openTarget?.text ?? "the target of the open gate") is not active: "
                    + "killswitchd does not move gates, or has not moved this one yet")
        }
    }

    /// Throws unless the user agrees. It asks only at a terminal: a script cannot answer.
    private func askForConsent(to plan: DrillPlan) throws {
        guard isatty(STDIN_FILENO) == 1 else { return }
        let names = { (units: [DrilledUnit]) -> String? in
            units.isEmpty ? nil : units.map(\.name.text).joined(separator: ", ")
        }
        let attached = plan.attached
        let others = plan.units.filter { $0.kind != .attached && $0.kind != .state }
        var lines = LabelledLines()
        lines.add("  stops", names(attached.filter(\.wasUp)))
        lines.add("  stops with that", names(others))
        lines.add("  is down, and is started", names(attached.filter { !$0.wasUp && $0.isStarted }))
        lines.add(
            "  runs meanwhile", names(plan.units.filter { $0.kind == .state && $0.isStarted }))
        let title =
            "a drill closes '\(service)' for at most \(limit.duration.wholeSeconds) s, "
            + "as \(state.rawValue):"
        complain(title)
        complain(lines.text)
        Terminal.prompt("close the gate now? [y/N] ")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else {
            throw CommandFailure("nothing was changed")
        }
    }
}

/// The word of `--state`: a state that closes.
extension State: ExpressibleByArgument {
    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(rawValue: argument)
    }

    static var allValueStrings: [String] {
        [State.maintenance, .updateRequired, .ended].map(\.rawValue)
    }

    var defaultValueDescription: String { rawValue }
}

/// The findings of a drill, as they are printed.
extension DrillFindings {
    /// The failures, for standard error; nil if the drill succeeded.
    var failure: String? { wholeProblem.map { "the drill of '\(service)' has failed: \($0)" } }

    /// What has failed, as a clause; nil if the drill succeeded.
    var wholeProblem: String? {
        let units = outcomes.filter { !$0.failures.isEmpty }.map(\.unit.name.text)
        let names = units.isEmpty ? nil : units.joined(separator: ", ")
        let words = [problem, names].compactMap(\.self).joined(separator: "; ")
        return words.isEmpty ? nil : words
    }

    /// The table, the remarks about units, and the duration of the drill.
    var text: String {
        let header = ["UNIT", "KIND", "WAS", "STOP", "BY HAND", "START", "RESULT"]
        var lines = Columns(rows: [header] + outcomes.map(cells)).lines()
        for outcome in outcomes {
            guard let words = problem(of: outcome) ?? outcome.remark else { continue }
            let line = "\(outcome.unit.name): \(words)".printable
            // A long line has a line for each clause.
            lines.append(line.count <= 80 ? line : line.replacing("; ", with: ";\n    "))
        }
        let state =
            closedFor.map { "was closed for \($0.shown)" }
            ?? (isOpen ? "is open" : "is still closed")
        let end = isInterrupted ? ", and the drill was broken off" : ""
        lines.append("'\(service)' \(state)\(end)")
        return lines.joined(separator: "\n")
    }

    private func problem(of outcome: UnitOutcome) -> String? {
        let sentences = outcome.failures.map { $0.sentence(of: outcome.unit.name, in: service) }
        return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
    }

    private func cells(_ outcome: UnitOutcome) -> [String] {
        let byHand = outcome.isRefused.map { $0 ? "refused" : "accepted" }
        return [
            outcome.unit.name.text, outcome.unit.kind.word,
            outcome.unit.before.seen.active.rawValue, outcome.stop?.shown ?? "-",
            byHand ?? "-", outcome.start?.shown ?? "-",
            !outcome.failures.isEmpty ? "failed" : isInterrupted ? "-" : "ok",
        ]
    }

    /// The report as JSON; an unknown value is null.
    var json: JSON.Object {
        [
            "service": .string(service.text),
            "state": .string(state.rawValue),
            "ok": .bool(failure == nil && !isInterrupted),
            "open": .bool(isOpen),
            "interrupted": .bool(isInterrupted),
            "closed_for_ms": .optional(closedFor?.milliseconds),
            "problem": .optional(problem),
            "units": .objects(outcomes.map(json)),
        ]
    }

    private func json(of outcome: UnitOutcome) -> JSON.Object {
        [
            "name": .string(outcome.unit.name.text),
            "kind": .string(outcome.unit.kind.word),
            "was": .string(outcome.unit.before.seen.active.rawValue),
            "stop_ms": .optional(outcome.stop?.milliseconds),
            "refused": outcome.isRefused.map { .bool($0) } ?? .null,
            "start_ms": .optional(outcome.start?.milliseconds),
            "ok": .bool(outcome.failures.isEmpty),
            "problem": .optional(problem(of: outcome)),
            "remark": .optional(outcome.remark),
        ]
    }
}

extension DrilledUnit.Kind {
    fileprivate var word: String {
        switch self {
        case .attached: "attached"
        case .dependent: "dependent"
        case .state: "state"
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { microseconds / 1000 }

    /// Milliseconds below ten seconds, else tenths of a second.
    fileprivate var shown: String {
        if milliseconds < 10_000 { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
