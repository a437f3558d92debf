import ArgumentParser
import Decision

/// `killswitchctl run SERVICE --when open -- COMMAND…`
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command while a service is open.",
        discussion: """
            Holds the command until the service is open, runs it once, and stops it with SIGTERM \
            when the gate closes; with SIGKILL when it has not ended after --grace. Signals, the \
            terminal and the exit status are the command's. Waits for a daemon that is not there \
            yet; one that goes away stops nothing.

            example: killswitchctl run shop --when open -- /usr/bin/nightly-import
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: "What to wait for: open, closed, decided, or the word of a state.",
        completion: .list(Goal.allValueStrings))
    var when: Goal = .gate(.open)

    @Option(help: "How long the command may take to end by itself, such as 500ms or 30s.")
    var grace: Timeout = Timeout(.seconds(30))

    @Option(help: "How long to wait for the start, such as 30s or 5m; without it for ever.")
    var timeout: Timeout?

    @Flag(name: .shortAndLong, help: "Do not say what is waited for, and why it is stopped.")
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
        let published = try Published(common)
        let waiting = try Waiting(for: when, of: service, in: published, at: timeout?.duration)
        if !quiet { waiting.onWait = sayWhatIsWaitedFor }
        switch try waiting.run() {
        case .reached:
            break
        case .timedOut:
            throw CommandFailure(.timedOut, "'\(service)' is not \(when.text) yet: \(waiting.last)")
        case .unknownService:
            throw try published.unknown(service)
        }
        let running = Running(command, of: service, while: when, grace: grace.duration, published)
        if !quiet { running.onStop = { printError("killswitchctl: \($0)") } }
        throw try running.run()
    }

    /// Somebody at a terminal wonders why nothing happens; a log need not know.
    private func sayWhatIsWaitedFor(_ state: String) {
        guard Terminal.isErrorShown else { return }
        printError("killswitchctl: waiting until '\(service)' is \(when.text): \(state)")
    }
}
