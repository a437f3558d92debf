import ArgumentParser
import CivilTime
import ControlSocket
import Decision
import Drills
import EventLoop
import Gates
import Glibc
import JSON
import POSIX
import Storage
import SystemdUnits

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

    @Flag(name: .customLong("yes"), help: "Do not ask for confirmation.")
    var isAgreed = false

    @Flag(help: "Print JSON.")
    var json = false

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
        try order.checkThatDaemonAnswers()
        let stand = try decisionIfDrillIsAllowed(published.known(service).object)
        let loop = try EventLoop()
        let manager = try BlockingSystemdClient(on: loop)
        if let problem = published.gate(of: service, beside: nil).problem {
            throw CommandFailure(.no, "'\(service)': \(problem)")
        }
        let plan = try DrillPlan(
            of: service, from: stand, to: state, describe: manager.snapshot)
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
        order.sendResult(problem: findings.wholeProblem)
        if let summary = findings.failure { throw CommandFailure(.no, summary) }
    }

    /// Refuses before the question a drill that the daemon would refuse. The daemon checks the same
    /// again when it takes the order.
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
                .no,
                "no unit is attached to the open gate of '\(service)'; "
                    + "'killswitchctl attach \(service) UNIT' attaches one")
        }
        guard plan.openTargetBefore.seen.active == .active else {
            throw CommandFailure(
                .no,
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
            throw CommandFailure(.no, "nothing was changed")
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
