import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Faults
import Glibc
import Records

/// `killswitchctl run SERVICE --when open -- COMMAND…`
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command while a service is open.",
        discussion: """
            Holds the command until the service is open, runs it once, and stops it with SIGTERM \
            when the gate closes; with SIGKILL if it has not ended after --grace. Signals, the \
            terminal and the exit status are the command's. Waits for a daemon that is not there \
            yet; one that goes away stops nothing.

            example: killswitchctl run shop --when open -- /usr/bin/nightly-import
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: "The condition: open, closed, decided, or the word of a state.",
        completion: .list(WaitCondition.allValueStrings))
    var when: WaitCondition = .gate(.open)

    @Option(help: "How long the command may take to end by itself, such as 500ms or 30s.")
    var grace: DurationArgument = DurationArgument(.seconds(30))

    @Option(help: "How long to wait for the start, such as 30s or 5m; without it for ever.")
    var timeout: DurationArgument?

    @Flag(name: .shortAndLong, help: "Do not print the condition, nor the reason of a stop.")
    var quiet = false

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    @Argument(
        parsing: .postTerminator, help: "The command and its arguments, after '--'.",
        completion: .default)
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError(
                "no command; give it after '--': killswitchctl run \(service) -- COMMAND")
        }
    }

    func run() throws {
        let published = try PublishedFiles(common)
        let waiting = try ConditionWait(
            for: when, of: service, in: published, within: timeout?.duration)
        if !quiet { waiting.onWait = sayWhatIsWaitedFor }
        try waiting.run()
        let running = SupervisedCommand(
            command, of: service, while: when, grace: grace.duration, published)
        if !quiet { running.onStop = { printError("killswitchctl: \($0)") } }
        throw try running.run()
    }

    /// Prints the condition, on a terminal only: a log does not need it.
    private func sayWhatIsWaitedFor(_ state: String) {
        guard Terminal.isErrorShown else { return }
        printError("killswitchctl: waiting until '\(service)' is \(when.text): \(state)")
    }
}

/// A running command: gets the signals sent to this process, and is stopped once its condition no longer
/// holds.
///
/// It stays in this process group, so that the terminal's input and signals, such as Ctrl-C and Ctrl-Z,
/// reach it directly. It is never started again, however often the gate moves.
final class SupervisedCommand {
    private let command: [String]
    private let service: ServiceName
    private let condition: WaitCondition
    private let grace: Duration
    private let published: PublishedFiles
    private var process: ChildProcess?
    private var isStopping = false
    private var watch: StateFileWatch?
    private var killTimer: Timer?
    private var child: Child?
    private var signals: Signals?
    private var end: Child.End?
    /// Called with the reason when the command is being stopped.
    var onStop: (String) -> Void = { _ in }

    /// A command that is not started yet. `grace` is the time between SIGTERM and SIGKILL.
    init(
        _ command: [String], of service: ServiceName, while condition: WaitCondition,
        grace: Duration,
        _ published: PublishedFiles
    ) {
        self.command = command
        self.service = service
        self.condition = condition
        self.grace = grace
        self.published = published
    }

    /// Starts the command and waits for its end.
    func run() throws(CommandFailure) -> CommandEnd {
        try orFail {
            let loop = try EventLoop()
            // Blocked before the start, so that none is lost and none ends this process.
            let mask = ChildProcess.blockedSignals
            signals = try Signals(loop, sentTo: Self.passed) { [unowned self] signal in
                // Signals from the terminal have reached the command already.
                if signal.isFromProcess { self.process?.send(signal.number) }
            }
            let process = try ChildProcess(command, blocking: mask)
            self.process = process
            child = try Child(loop, process.identifier) { [unowned self] end in
                self.end = end
                loop.exit(0)
            }
            killTimer = try Timer(loop, accuracy: .zero) { process.send(SIGKILL) }
            try follow(on: loop)
            _ = try loop.run()
            guard let end else { throw CommandFailure(.no) }
            return CommandEnd(end: end)
        }
    }

    /// The signals that are passed on.
    private static let passed = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM]

    private func follow(on loop: EventLoop) throws(SystemError) {
        watch = try StateFileWatch(service, in: published, on: loop) { [unowned self] in
            look(on: loop)
        }
        // The state may have changed since the wait.
        look(on: loop)
    }

    private func look(on loop: EventLoop) {
        guard !isStopping else { return }
        do {
            guard let state = try published.state(of: service),
                state.isCurrent(at: loop.now.wall), condition.isOver(in: state)
            else { return }
            stop(on: loop, because: state.summary)
        } catch {
            // A state file that cannot be read stops nothing, but the marker beside it does.
            guard let marker = error.marker, condition.isOver(by: marker) else { return }
            stop(on: loop, because: marker.rawValue)
        }
    }

    private func stop(on loop: EventLoop, because summary: String) {
        isStopping = true
        onStop("'\(service)' is \(summary), not \(condition.text) any more: stopping the command")
        process?.send(SIGTERM)
        // A suspended process could not end otherwise.
        process?.send(SIGCONT)
        killTimer?.set(at: loop.now.boot + grace)
    }
}

extension WaitCondition {
    /// Whether the condition no longer holds in this state. An undecided service ends nothing.
    func isOver(in state: PublishedState) -> Bool {
        state.state != .undecided && !isReached(by: state)
    }

    /// Whether the marker alone shows that the condition no longer holds: the gate is not the state's.
    func isOver(by marker: Gate) -> Bool {
        switch self {
        case .gate(let gate): gate != marker
        case .decided, .state(.updateRequired): false
        case .state(.undecided): true
        case .state(.running), .state(.countdown): marker == .closed
        case .state(.maintenance), .state(.ended): marker == .open
        }
    }
}
