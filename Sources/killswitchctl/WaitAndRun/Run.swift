import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Glibc
import POSIX
import Storage

/// `killswitchctl run SERVICE --for open -- COMMAND…`
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command while a service is open.",
        discussion: """
            Holds the command until the service is open, runs it once, and stops it with SIGTERM \
            when the gate closes; with SIGKILL if it has not ended after --grace. Signals, the \
            terminal and the exit status are the command's. Waits for a daemon that is not there \
            yet; one that goes away stops nothing.

            example: killswitchctl run shop --for open -- /usr/bin/nightly-import
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The condition: open, closed, up, down, decided, or the word of a state.",
            valueName: "condition"),
        completion: .list(WaitCondition.allValueStrings)) var condition: WaitCondition = .gate(
            .open)

    @Option(
        help: ArgumentHelp(
            "How long the command may take to end by itself, such as 500ms or 30s.",
            valueName: "duration"),
        transform: DurationArgument.read)
    var grace = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp(
            "How long to wait for the start, such as 30s or 5m; without it for ever.",
            valueName: "duration"),
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
        try condition.wait(
            for: service, in: published, within: timeout?.duration, isOfRun: true
        ) { state in
            // On a terminal only: a log does not need it.
            guard !quiet, Terminal.isErrorShown else { return }
            printError(
                "waiting until '\(service)' is \(condition.defaultValueDescription): \(state)")
        }
        throw try supervise(published)
    }

    /// Starts the command, once, passes signals on, stops it when its condition no longer holds, and waits for its end.
    ///
    /// It stays in this process group, so that the terminal's input and signals (Ctrl-C, Ctrl-Z) reach it directly.
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
        let stream = try PublishedStream(of: [service], in: published, on: loop)
        var end: Child.End?
        let child = try Child(loop, process.identifier) {
            end = $0
            stream.wake()
        }
        defer { withExtendedLifetime((signals, child)) {} }
        var isStopping = false
        var timeToKill: Boottime?
        return try stream.until {
            if let end { return CommandEnd(end: end) }
            if !isStopping, let state = endingState(in: stream, published) {
                isStopping = true
                timeToKill = loop.now.boot + grace.duration
                if !quiet {
                    let words = condition.defaultValueDescription
                    printError(
                        "'\(service)' is \(state), no longer \(words); stopping the command")
                }
                process.send(SIGTERM)
                // A suspended process could not end otherwise.
                process.send(SIGCONT)
            } else if let time = timeToKill, time <= loop.now.boot {
                timeToKill = nil
                process.send(SIGKILL)
            }
            if let timeToKill { stream.checkAgain(after: timeToKill - loop.now.boot) }
            return nil
        }
    }

    private static let passed = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM]

    /// The state in words if the condition no longer holds in it; nil while it may hold.
    private func endingState(in stream: PublishedStream, _ published: PublishedFiles) -> String? {
        do {
            guard let (state, isCurrent) = try stream.state(of: service), isCurrent,
                condition.isOver(in: state),
                !condition.isOfOpen || !published.isObserved(service)
            else { return nil }
            return state.summary
        } catch {
            // A state file that cannot be read stops nothing, but the marker beside it does.
            return error.marker.flatMap { condition.isOver(by: $0) ? $0.rawValue : nil }
        }
    }
}

extension WaitCondition {
    /// Whether it is that the gate is open, which that of a service that is only observed always is.
    var isOfOpen: Bool { self == .gate(.open) || self == .effect(.open) }

    /// Whether the condition no longer holds, which no undecided service says. `down` and `up` end by the decision.
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

/// A command in a child process, with this process's terminal, files and process group.
struct ChildProcess {
    let identifier: Int32

    /// Starts a command, searched in PATH. Throws as a shell exits: with 127 if there is none, 126 if it cannot be run.
    init(_ command: [String], blocking mask: sigset_t) throws(CommandFailure) {
        var attributes = posix_spawnattr_t()
        var mask = mask
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = unsafe command.map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        let code = unsafe posix_spawnp(
            &identifier, command[0], nil, &attributes, words + [nil], environ)
        guard code == 0 else {
            throw CommandFailure(
                code == ENOENT ? .noSuchCommand : .commandNotRun,
                "run '\(command[0])': \(SystemError.text(of: code))")
        }
        self.identifier = identifier
    }

    func send(_ signal: Int32) { kill(identifier, signal) }

    static var blockedSignals: sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }
}

/// How the command of `run` ended. Thrown to the top, which ends this process in the same way.
struct CommandEnd: Error {
    let end: Child.End

    /// Returns the exit status. Ends this process by the signal that ended the command, so that a shell sees that;
    /// returns 128 plus the number if that fails.
    func exitAlike() -> Int32 {
        switch end {
        case .exited(let status): return status
        case .killed(let number):
            // The command has written a core file already.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            signal(number, SIG_DFL)
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, number)
            unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            kill(getpid(), number)
            return 128 + number
        }
    }
}
