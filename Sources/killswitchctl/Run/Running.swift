import CivilTime
import Decision
import EventLoop
import Faults
import Glibc
import Records

/// A command while it runs: gets the signals that we get, and is stopped when what it runs for is over.
///
/// It is in our process group, so that the terminal is its own: what is typed there, Ctrl-C and Ctrl-Z
/// too, reaches it without us. It is never started again, however often the gate flips.
final class Running {
    private let command: [String]
    private let service: ServiceName
    private let goal: Goal
    private let grace: Duration
    private let published: Published
    private var process: Process?
    private var isStopping = false
    private var following: Following?
    private var patience: Timer?
    private var child: Child?
    private var signals: Signals?
    private var end: Child.End?
    /// Told why the command is being stopped.
    var onStop: (String) -> Void = { _ in }

    init(
        _ command: [String], of service: ServiceName, while goal: Goal, grace: Duration,
        _ published: Published
    ) {
        self.command = command
        self.service = service
        self.goal = goal
        self.grace = grace
        self.published = published
    }

    /// Runs the command to its end, and gives that.
    func run() throws(CommandFailure) -> CommandEnd {
        do {
            let loop = try EventLoop()
            // Held from before the start: none gets lost, and none ends us while the command runs.
            let mask = Process.blockedSignals
            signals = try Signals(loop, sentTo: Self.passed) { [unowned self] signal in
                // What the kernel sends from the terminal has reached the command already.
                if signal.isFromProcess { self.process?.send(signal.number) }
            }
            let process = try Process(command, blocking: mask)
            self.process = process
            child = try Child(loop, process.identifier) { [unowned self] end in
                self.end = end
                loop.exit(0)
            }
            patience = try Timer(loop, accuracy: .zero) { process.send(SIGKILL) }
            try follow(on: loop)
            _ = try loop.run()
            guard let end else { throw CommandFailure(.no) }
            return CommandEnd(end: end)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    /// What others may send to us and mean the command.
    private static let passed = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM]

    private func follow(on loop: EventLoop) throws(SystemError) {
        following = try Following(service, in: published, on: loop) { [unowned self] in
            look(on: loop)
        }
        // It may have changed since it was waited for.
        look(on: loop)
    }

    private func look(on loop: EventLoop) {
        guard !isStopping else { return }
        do {
            guard let state = try published.state(of: service),
                state.isCurrent(at: loop.now.wall), goal.isOver(in: state)
            else { return }
            stop(on: loop, because: state.summary)
        } catch {
            // A file that cannot be read is no order; the marker beside it is one.
            guard let marker = error.marker, goal.isOver(by: marker) else { return }
            stop(on: loop, because: marker.rawValue)
        }
    }

    private func stop(on loop: EventLoop, because summary: String) {
        isStopping = true
        onStop("'\(service)' is \(summary), not \(goal.text) any more: stopping the command")
        process?.send(SIGTERM)
        // One that was suspended could not end otherwise.
        process?.send(SIGCONT)
        patience?.set(at: loop.now.boot + grace)
    }
}

extension Goal {
    /// Whether a state says that what was waited for is over. Not to know is no such thing.
    func isOver(in state: PublishedState) -> Bool {
        state.state != .undecided && !isReached(by: state)
    }

    /// The same by the marker, where there is nothing else to go by: a state is over when the gate is not
    /// that of the state.
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
