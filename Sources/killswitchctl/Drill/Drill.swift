import ArgumentParser
import CivilTime
import ControlSocket
import Decision
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
            The service is DOWN meanwhile. Times the stop of each attached unit, \
            tries to start each unit by hand (this must fail), opens the gate as soon as all have \
            stopped, times each start. Exit status: 1 if anything failed.

            The gate always reopens by itself: the drill is an order like that of 'close', and ends after --for. \
            'status' shows the result; for a monthly drill enable killswitch-drill@SERVICE.timer.

            example: killswitchctl drill shop --for 30s
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The longest that the gate stays closed, in whole seconds, such as 30s or 2m.",
            valueName: "duration"),
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
        let gate = published.gate(of: service, beside: nil)
        if let problem = gate.whyUnmoved ?? gate.problem {
            throw CommandFailure("'\(service)': \(problem)")
        }
        let manager = try BlockingSystemdClient(on: loop)
        let plan = try DrillPlan(
            of: service, from: stand, to: state, rows: published.units(of: service),
            describe: manager.snapshot)
        try check(plan, published)
        if !isAgreed { try askForConsent(to: plan) }
        let drill = try DrillRun(plan, by: order, on: loop, published)
        let report = try drill.run()
        if json { printJSON(.object(report.json)) } else { printLines(report.text) }
        try flushOutput()
        if let signal = drill.interruption {
            if let summary = report.failure { printError(summary) }
            throw CommandEnd(end: .killed(signal))
        }
        order.sendResult(of: report)
        if let summary = report.failure { throw CommandFailure(summary) }
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

    private func check(_ plan: DrillPlan, _ published: PublishedFiles) throws {
        guard !plan.attached.isEmpty else {
            throw CommandFailure(
                "no unit is attached to the open gate of '\(service)'; "
                    + "'killswitchctl attach \(service) UNIT' attaches one")
        }
        guard let gate = published.gate(of: service) else {
            throw CommandFailure("what the gate of '\(service)' is is not known yet")
        }
        guard gate.actual == .open else {
            let actual = gate.actual?.rawValue ?? "not moved"
            throw CommandFailure("the gate of '\(service)' is still \(actual)")
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
        let isStarted = { (unit: DrilledUnit) in unit.rowBefore["wanted"]?.bool == true }
        lines.add(
            "  is down, and is started", names(attached.filter { !$0.wasUp && isStarted($0) }))
        lines.add("  runs meanwhile", names(plan.units.filter { $0.kind == .state }))
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
