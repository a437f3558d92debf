import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Faults
import Records

/// `killswitchctl wait SERVICE --for CONDITION`
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until a service is in a state.",
        discussion: """
            Exits with 0 when the condition is met, and with 124 if the timeout is over first. A \
            state file that is out of date does not count; instead of an unreadable state file the \
            marker counts. Waits for a daemon that is not running yet.

            example: killswitchctl wait shop --for open --timeout 30s
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: "The condition: open, closed, decided, or the word of a state.",
        completion: .list(WaitCondition.allValueStrings))
    var condition: WaitCondition

    @Option(help: "How long to wait, such as 500ms, 30s or 5m; without it for ever.")
    var timeout: DurationArgument?

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    func run() throws {
        let published = try PublishedFiles(common)
        try ConditionWait(for: condition, of: service, in: published, within: timeout?.duration)
            .run()
    }
}

/// A condition that `wait` and `run` wait for.
enum WaitCondition: ExpressibleByArgument {
    case gate(Gate)
    /// Any state but `undecided`.
    case decided
    case state(State)

    init?(argument: String) {
        if let gate = Gate(rawValue: argument) {
            self = .gate(gate)
        } else if argument == "decided" {
            self = .decided
        } else if let state = State(rawValue: argument) {
            self = .state(state)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] {
        Gate.allCases.map(\.rawValue) + ["decided"] + State.allCases.map(\.rawValue)
    }

    /// The condition as it would be typed.
    var defaultValueDescription: String { text }

    /// The word on the command line.
    var text: String {
        switch self {
        case .gate(let gate): gate.rawValue
        case .decided: "decided"
        case .state(let state): state.rawValue
        }
    }

    /// Whether a service in this state meets the condition.
    func isReached(by state: PublishedState) -> Bool {
        switch self {
        case .gate(let gate): state.gate == gate
        case .decided: state.state != .undecided
        case .state(let wanted): state.state == wanted
        }
    }

    /// Whether the marker alone shows that the condition is met. The marker does not tell the
    /// state.
    func isReached(by marker: Gate?) -> Bool {
        switch self {
        case .gate(let gate): marker == gate
        case .decided: marker != nil
        case .state: false
        }
    }
}

/// Waits for a condition: watches the state file of a service until it meets it, or the time is over.
final class ConditionWait {
    private enum End: Int32 {
        case reached
        case timedOut
        /// Most likely a typing error.
        case unknownService
    }

    private let condition: WaitCondition
    private let service: ServiceName
    private let published: PublishedFiles
    private let loop: EventLoop
    private let limit: Duration?
    private var watch: StateFileWatch?
    private var timer: Timer?
    private var validity: WallTimer?
    private var problem: CommandFailure?
    private var isOver = false
    /// The state that was seen last, for messages: `it is maintenance`.
    private var last = "no state was published"
    /// Called once with the state that was seen, if the condition is not met at once.
    var onWait: (String) -> Void = { _ in }

    /// A wait that has not begun. Without a `limit` it has no end.
    init(
        for condition: WaitCondition, of service: ServiceName, in published: PublishedFiles,
        within limit: Duration?
    ) throws(CommandFailure) {
        self.condition = condition
        self.service = service
        self.published = published
        self.limit = limit
        loop = try orFail { try EventLoop() }
    }

    /// Waits until the condition is met. Throws if the time is over first, or if other services have files
    /// and this one has none.
    func run() throws(CommandFailure) {
        switch try end() {
        case .reached:
            return
        case .timedOut:
            throw CommandFailure(.timedOut, "'\(service)' is not \(condition.text) yet: \(last)")
        case .unknownService:
            throw try published.unknown(service)
        }
    }

    private func end() throws(CommandFailure) -> End {
        try orFail {
            watch = try StateFileWatch(service, in: published, on: loop) { [unowned self] in look()
            }
            validity = try WallTimer(loop) { [unowned self] _ in look() }
            if let limit {
                timer = try Timer(loop, accuracy: .zero) { [unowned self] in
                    exit(.timedOut)
                }
                timer?.set(at: loop.now.boot + limit)
            }
            look()
            if !isOver { onWait(last) }
            let code = try loop.run()
            if let problem { throw problem }
            return End(rawValue: code) ?? .timedOut
        }
    }

    private func look() {
        do {
            guard let state = try published.state(of: service) else { return lookAtOthers() }
            guard state.isCurrent(at: loop.now.wall) else {
                last = "its state file is out of date"
                return
            }
            last = "it is \(state.summary)"
            if condition.isReached(by: state) { exit(.reached) }
            validity?.set(at: state.validUntil)
        } catch {
            last = "\(error)"
            if condition.isReached(by: error.marker) { exit(.reached) }
        }
    }

    private func lookAtOthers() {
        do {
            if try othersAreKnown() { exit(.unknownService) }
        } catch {
            problem = error
            exit(.timedOut)
        }
    }

    private func exit(_ end: End) {
        isOver = true
        loop.exit(end.rawValue)
    }

    private func othersAreKnown() throws(CommandFailure) -> Bool {
        do {
            return try !published.services().isEmpty
        } catch  where error.status == .unreachable {
            return false
        }
    }
}

/// Calls a function whenever the state file or the marker of a service may have changed.
final class StateFileWatch {
    private var watches: [PathWatch] = []
    private var slowPoll: Timer?

    /// Watches the files by inotify(7), or polls them every second if the kernel has no watch left.
    init(
        _ service: ServiceName, in published: PublishedFiles, on loop: EventLoop,
        look: @escaping () -> Void
    ) throws(SystemError) {
        let folder = "\(published.directory)/\(service)"
        let names = [FileName.state] + Gate.allCases.map(\.rawValue)
        watches = names.map { PathWatch(loop, path: "\(folder)/\($0)", handler: look) }
        guard watches.contains(where: { $0.problem != nil }) else { return }
        slowPoll = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            look()
            slowPoll?.set(at: loop.now.boot + .seconds(1))
        }
        slowPoll?.set(at: loop.now.boot + .seconds(1))
    }
}
