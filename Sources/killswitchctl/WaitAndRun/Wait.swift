import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import Gates
import JSON
import POSIX
import Storage
import SystemdUnits

/// `killswitchctl wait SERVICE --for CONDITION`
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Wait until a service reaches a state, or its units have stopped or started.",
        discussion: """
            'open' and 'closed' wait for the decision; units may still be changing. 'up' and 'down' \
            also wait for the gate and its units.

            Exit status: 0 condition met; 1 the gate cannot be moved ('up', 'down'); 124 timeout. \
            Ignores an out-of-date state file; if the file is unreadable, the marker file decides. \
            Also waits for a daemon that has not started yet.

            example: killswitchctl wait shop --for down --timeout 5m && ./migrate
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The condition: down, up, open, closed, decided, or the word of a state.",
            valueName: "condition"),
        completion: .list(WaitCondition.allValueStrings)) var condition: WaitCondition

    @Option(
        help: ArgumentHelp("Longest wait, such as 30s; default: no limit.", valueName: "duration"),
        transform: DurationArgument.read)
    var timeout: DurationArgument?

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    func run() throws {
        try condition.wait(for: service, in: PublishedFiles(common), within: timeout?.duration)
    }
}

/// A condition that `wait` and `run` wait for.
enum WaitCondition: Hashable, ExpressibleByArgument {
    /// The decision.
    case gate(Gate)
    /// The effect: every unit is down behind the closed gate, or every unit that the open gate starts is up.
    case effect(Gate)
    /// Any state but `undecided`.
    case decided
    case state(State)

    private static let all: [(word: String, condition: Self)] =
        Gate.allCases.map { ($0.rawValue, .gate($0)) }
        + Gate.allCases.map { ($0 == .open ? "up" : "down", .effect($0)) }
        + [("decided", .decided)] + State.allCases.map { ($0.rawValue, .state($0)) }

    init?(argument: String) {
        guard let known = Self.all.first(where: { $0.word == argument }) else { return nil }
        self = known.condition
    }

    static var allValueStrings: [String] { all.map(\.word) }

    var defaultValueDescription: String { Self.all.first { $0.condition == self }?.word ?? "" }

    /// Whether a service in this state, with this gate, meets the condition.
    func isReached(by state: PublishedState, _ gate: PublishedGate?) -> Bool {
        switch self {
        case .gate(let wanted): state.gate == wanted
        case .effect(let wanted): state.gate == wanted && gate?.isComplete(as: wanted) ?? false
        case .decided: state.state != .undecided
        case .state(let wanted): state.state == wanted
        }
    }

    /// Whether the marker alone shows that the condition is met: it does not tell the state.
    func isReached(by marker: Gate?) -> Bool {
        switch self {
        case .gate(let gate): marker == gate
        case .decided: marker != nil
        case .effect, .state: false
        }
    }

    /// Waits until a service meets the condition. Throws if the time is over first, if the gate cannot be moved, or if
    /// other services have files and this one gets none: most likely a typing error. `onWait` is called with the state
    /// that was seen, if the condition is not met at once. The gate of a service that is only observed is open.
    /// `isOfRun`: a command is to be run then, so that a service which is not closed is up.
    func wait(
        for service: ServiceName, in published: PublishedFiles, within limit: Duration?,
        isOfRun: Bool = false, onWait: ((String) -> Void)? = nil
    ) throws {
        let loop = try EventLoop()
        let stream = try PublishedStream(of: [service], in: published, on: loop)
        let failure = { (problem: String?) in
            CommandFailure(
                "'\(service)' will not be \(defaultValueDescription): \(problem ?? "not known")")
        }
        var seen = "no state was published"
        let check = { () throws -> Void? in
            guard let (state, isCurrent) = try stream.state(of: service) else {
                try stream.expectFiles(of: service, limit: limit)
                return nil
            }
            let gate = published.gate(of: service, beside: state.gate, at: loop.now.wall)
            if isCurrent, state.gate != nil, published.isObserved(service) {
                if self == .gate(.open) || isOfRun && self == .effect(.open) { return () }
                if isOfRun, self == .gate(.closed) { throw failure(gate.whyUnmoved) }
            }
            seen = isCurrent ? words(state, gate) : "its state file is out of date"
            if isCurrent, isReached(by: state, gate.published) {
                guard let unknown = try unknownUnit(of: service, in: published) else { return () }
                seen = "the daemon has not yet seen its unit '\(unknown)'"
            }
            if isCurrent, let problem = obstacle(state, gate) { throw failure(problem) }
            return nil
        }
        var onWait = onWait
        let met: Void? = try stream.until(
            limit,
            progress: isOfRun ? nil : { "waiting \(stream.elapsed.wholeSeconds) s: \(seen)" }
        ) {
            do { if let met = try check() { return met } } catch let error as UnreadableState {
                if isReached(by: error.marker) { return () }
                seen = "\(error)"
            }
            onWait?(seen)
            onWait = nil
            return nil
        }
        guard met == nil else { return }
        throw CommandFailure(
            .timedOut,
            "'\(service)' is not \(defaultValueDescription) yet: \(seen)"
                + (try awaitedUnits(of: service, in: published, at: loop.now.wall)))
    }

    /// An attached unit that the daemon does not know yet; nil without one, or if the condition is about no units.
    private func unknownUnit(
        of service: ServiceName, in published: PublishedFiles
    ) throws -> UnitName? {
        guard case .effect = self else { return nil }
        let rows = try published.units(of: service)
        let known = Set(rows.filter { $0["active"]?.string != nil }.map { $0.text("name") })
        let attached = try AttachmentFiles.all().filter {
            $0.target == GateTarget(service: service, kind: .open)
        }
        return attached.first { !known.contains($0.unit.text) }?.unit
    }

    /// The units that the effect waits for, each with its state and since when; empty for another condition.
    private func awaitedUnits(
        of service: ServiceName, in published: PublishedFiles, at now: Instant
    ) throws -> String {
        guard case .effect = self else { return "" }
        let units = try published.units(of: service).filter { !$0.isAsWanted }
        guard !units.isEmpty else { return "" }
        let shown = units.prefix(8).map { "\($0.text("name").printable) (\($0.status(at: now)))" }
        return ", waiting for " + shown.andMore(of: units.count).joined(separator: ", ")
    }

    private func words(_ state: PublishedState, _ gate: ShownGate) -> String {
        guard case .effect = self, let words = gate.words else { return "it is \(state.summary)" }
        return "it is \(state.summary), its gate is \(words)"
            + (gate.isHeldUp ? gate.problem.map { ": \($0)" } ?? "" : "")
    }

    /// Why the effect of this decision will not come by itself; nil if it may.
    private func obstacle(_ state: PublishedState, _ gate: ShownGate) -> String? {
        guard case .effect(let wanted) = self, state.gate == wanted, let report = gate.published
        else { return nil }
        if let why = gate.whyUnmoved { return why }
        return report.isStuck(on: wanted) ? gate.problem : nil
    }
}

extension JSON.Object {
    /// How a unit of units.json stands: `deactivating for 20s`.
    fileprivate func status(at now: Instant) -> String {
        if self["attached"]?.bool == false { return "not attached" }
        guard let active = self["active"]?.string else { return "not known" }
        let time = Instant(argument: text("since")).map {
            " for \(Swift.max(.zero, now - $0).rough)"
        }
        let left = self["processes"]?.number?.int64.map {
            ", \($0) of its processes \($0 == 1 ? "runs" : "run") on"
        }
        let keepers = strings("held_by").map { ", kept down by '\($0)'" }.joined()
        return active.printable + (time ?? "") + (left ?? "") + keepers
    }
}
