import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Glibc
import Storage

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
        help: "The condition: open, closed, up, down, decided, or the word of a state.",
        completion: .list(WaitCondition.allValueStrings)) var when: WaitCondition = .gate(.open)

    @Option(
        help: "How long the command may take to end by itself, such as 500ms or 30s.",
        transform: DurationArgument.read)
    var grace = DurationArgument(.seconds(30))

    @Option(
        help: "How long to wait for the start, such as 30s or 5m; without it for ever.",
        transform: DurationArgument.read)
    var timeout: DurationArgument?

    @Flag(name: .shortAndLong, help: "Do not print the condition, nor the reason of a stop.")
    var quiet = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    @Argument(
        parsing: .postTerminator, help: "The command and its arguments, after '--'.",
        completion: .programs) var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError(
                "no command; give it after '--': killswitchctl run \(service) -- COMMAND")
        }
    }

    func run() throws {
        let published = try PublishedFiles(common)
        try when.wait(for: service, in: published, within: timeout?.duration) { state in
            // On a terminal only: a log does not need it.
            guard !quiet, Terminal.isErrorShown else { return }
            printError("waiting until '\(service)' is \(when.defaultValueDescription): \(state)")
        }
        throw try supervise(published)
    }
}

extension Run {
    /// Starts the command and waits for its end. The command gets the signals sent to this process, and is
    /// stopped once its condition no longer holds.
    ///
    /// It stays in this process group, so that the terminal's input and signals, such as Ctrl-C and Ctrl-Z,
    /// reach it directly. It is never started again, however often the gate moves.
    private func supervise(_ published: PublishedFiles) throws -> CommandEnd {
        let loop = try EventLoop()
        // Blocked before the start, so that none is lost and none ends this process.
        let mask = ChildProcess.blockedSignals
        try Signals.hold(Self.passed)
        let process = try ChildProcess(command, blocking: mask)
        let signals = try Signals(loop, Self.passed) { signal in
            // Signals from the terminal have reached the command already.
            if signal.isFromProcess { process.send(signal.number) }
        }
        var end: Child.End?
        let child = try Child(loop, process.identifier) { end = $0 }
        defer { withExtendedLifetime((signals, child)) {} }
        let watch = try StateFileWatch(service, in: published, on: loop)
        var isStopping = false
        var timeToKill: Boottime?
        while true {
            if let end { return CommandEnd(end: end) }
            if !isStopping, let state = endingState(in: published, at: loop.now.wall) {
                isStopping = true
                timeToKill = loop.now.boot + grace.duration
                if !quiet {
                    let condition = when.defaultValueDescription
                    printError(
                        "'\(service)' is \(state), no longer \(condition); stopping the command")
                }
                process.send(SIGTERM)
                // A suspended process could not end otherwise.
                process.send(SIGCONT)
            } else if let time = timeToKill, time <= loop.now.boot {
                timeToKill = nil
                process.send(SIGKILL)
            }
            try watch.wait(atMost: timeToKill.map { $0 - loop.now.boot })
        }
    }

    /// The signals that are passed on.
    private static let passed = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM]

    /// The state in words if the condition no longer holds in it; nil while it may hold.
    private func endingState(in published: PublishedFiles, at now: Instant) -> String? {
        do {
            guard let state = try published.state(of: service),
                published.isCurrent(state, at: now),
                when.isOver(in: state)
            else { return nil }
            return state.summary
        } catch {
            // A state file that cannot be read stops nothing, but the marker beside it does.
            return error.marker.flatMap { when.isOver(by: $0) ? $0.rawValue : nil }
        }
    }
}

extension WaitCondition {
    /// Whether the condition no longer holds in this state. An undecided service ends nothing. The other
    /// decision ends `down` and `up`, before units are moved.
    func isOver(in state: PublishedState) -> Bool {
        guard state.state != .undecided else { return false }
        if case .effect(let gate) = self { return state.gate != gate }
        return !isReached(by: state, nil)
    }

    /// Whether the marker alone shows that the condition no longer holds: the gate is not the state's.
    func isOver(by marker: Gate) -> Bool {
        switch self {
        case .gate(let gate), .effect(let gate): gate != marker
        case .decided, .state(.updateRequired): false
        case .state(.undecided): true
        case .state(.running), .state(.countdown): marker == .closed
        case .state(.maintenance), .state(.ended): marker == .open
        }
    }
}
