import ArgumentParser
import Configuration
import ControlSocket
import SystemdUnits

/// The command line: its commands, grouped by purpose.
struct Killswitchctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "killswitchctl",
        abstract: "Show the decisions of killswitchd, and give it orders.",
        discussion: """
            Reading needs no privilege and no running daemon: the commands read the files that the \
            daemon writes. Acting is for root and the group killswitchd, and goes over the daemon's \
            socket, which nobody else can open. A command that reads the daemon's files takes \
            --runtime-directory DIRECTORY too, for a daemon that has them there.

            example: killswitchctl is-open shop && start-the-shop

            See killswitchctl(1).
            """,
        version: ProgramVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "look",
                subcommands: [
                    StatusCommand.self, IsOpen.self, Get.self, Explain.self, PlanCommand.self,
                    FleetCommand.self, History.self,
                ]),
            CommandGroup(
                name: "wait and run", subcommands: [Wait.self, WatchServices.self, Run.self]),
            CommandGroup(
                name: "order",
                subcommands: [
                    Open.self, Close.self, Release.self, Confirm.self, Activate.self, Refresh.self,
                    ReloadCommand.self, Forget.self,
                ]),
            CommandGroup(name: "signed flags", subcommands: [Sign.self, Verify.self]),
            CommandGroup(
                name: "units",
                subcommands: [
                    Attach.self, Detach.self, Units.self, Drill.self, WriteMotd.self,
                ]),
        ])

    /// Runs the command of this process, with the message of a failure on stderr; returns the exit status.
    static func launch() -> Int32 {
        let arguments = commandFirst(Array(CommandLine.arguments.dropFirst()))
        if let status = Openness.answer(to: arguments) { return status }
        do {
            try checkCommand(arguments.drop { $0 == "help" }.first)
            var command = try parseAsRoot(arguments)
            try command.run()
            try flushOutput()
            return ExitStatus.success.rawValue
        } catch let command as CommandEnd {
            return command.exitAlike()
        } catch {
            let status = explain(error)
            // The message was printed: nothing else is said of output that cannot be.
            do { try flushOutput() } catch { printError(error.message) }
            return status.rawValue
        }
    }

    /// Throws for an unknown command, which the parser would call an unexpected argument.
    private static func checkCommand(_ word: String?) throws {
        guard let word, !word.hasPrefix("-"), word != WriteMotd._commandName else { return }
        let commands =
            configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .map { $0._commandName } + ["help"]
        guard !commands.contains(word) else { return }
        let hint =
            otherWords[word].map { "it is '\($0)'" }
            ?? nearest(to: word, among: commands).map { "did you mean '\($0)'?" }
            ?? "there are: \(commands.joined(separator: ", "))"
        throw CommandFailure(
            .usage,
            """
            no such command '\(word)'; \(hint)
            Usage: killswitchctl <subcommand>
              See 'killswitchctl --help' for more information.
            """)
    }

    /// What is meant by words that comparable programs have.
    private static let otherWords = [
        "force": "open' or 'close", "unlock": "open --without-daemon", "start": "open",
        "up": "open",
        "enable": "open", "stop": "close", "down": "close", "kill": "close", "disable": "close",
        "list": "status", "ls": "status", "show": "status", "describe": "explain",
        "why": "explain", "logs": "history", "simulate": "plan", "rollout": "plan",
    ]

    /// The arguments with `--runtime-directory` behind the command: it may stand before it too.
    private static func commandFirst(_ arguments: [String]) -> [String] {
        var ahead: ArraySlice<String> = []
        var rest = arguments[...]
        while let option = rest.first, option.hasPrefix("--runtime-directory") {
            let count = option.contains("=") ? 1 : 2
            ahead += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        return Array(rest.prefix(1) + ahead + rest.dropFirst())
    }

    /// The parser's message for a wrong command line with its usage, in the style of our own messages.
    private static func usageMessage(for error: any Error) -> String {
        let label = "Error: "
        let text = fullMessage(for: error)
        let message = text.hasPrefix(label) ? text.dropFirst(label.count) : text[...]
        let isSentence = message.dropFirst().first?.isLowercase == true
        return isSentence ? message.prefix(1).lowercased() + message.dropFirst() : String(message)
    }

    /// Prints the message of an error: help on stdout, everything else on stderr.
    private static func explain(_ error: any Error) -> ExitStatus {
        switch exitCode(for: error) {
        case .success:
            printLines(fullMessage(for: error))
            return .success
        case .validationFailure:
            printError(usageMessage(for: error))
            return .usage
        default:
            let failure = CommandFailure(error)
            if !failure.message.isEmpty { printError(failure.message) }
            return failure.status
        }
    }
}

/// The option that every command has.
struct CommonOptions: ParsableArguments {
    @Option(
        name: .customLong("runtime-directory"),
        help: ArgumentHelp(
            "Read the files in this directory.", valueName: "directory", visibility: .hidden),
        completion: .directory) var runtimeDirectory: String?
}

/// The exit status of a command, for the script that called it, as killswitchctl(1) lists them.
enum ExitStatus: Int32 {
    case success = 0
    /// The answer is "no", or the command failed.
    case no = 1
    case usage = 2
    /// The service is undecided, or its state file is past `valid_until`.
    case undecided = 3
    /// There is no such service, or no such source.
    case noSuchService = 4
    case notPermitted = 5
    /// The daemon or systemd does not answer.
    case unreachable = 69
    /// The command itself has failed, and gives no answer: its output cannot be written, or `is-open` cannot look.
    case ownFailure = 70
    case configuration = 78
    /// As timeout(1).
    case timedOut = 124
    /// As a shell: the command exists, but cannot be run.
    case commandNotRun = 126
    /// As a shell: there is no such command.
    case noSuchCommand = 127
}

/// Ends a command with an exit status and a message for stderr, as any other error does in the end.
struct CommandFailure: Error {
    let status: ExitStatus
    /// The message without the program's name; empty if everything is printed already.
    let message: String

    /// A failure with this status; without a message nothing is printed.
    init(_ status: ExitStatus, _ message: String = "") {
        (self.status, self.message) = (status, message)
    }

    /// A failure as most are: a "no" with a message.
    init(_ message: String) { self.init(.no, message) }

    /// The failure that an error ends a command with: most errors are a "no" in their own words.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as MethodError: self.init(error)
        case let error as SocketError where error.isNobodyThere:
            let hint = "is killswitchd running? See \(DeadDaemon.advice)"
            self.init(.unreachable, "\(error); \(hint)")
        case let error as SocketError where error.isDenied: self.init(MethodError.notPermitted)
        case let error as SocketError: self.init(.unreachable, "\(error)")
        case let error as BlockingSystemdClient.Failure:
            let status = error.isOfSystemd ? ExitStatus.no : .unreachable
            self.init(error.isDenied ? .notPermitted : status, "\(error)")
        default: self.init("\(error)")
        }
    }
}

/// What to do where no daemon runs.
enum DeadDaemon {
    static let advice =
        "'systemctl status killswitchd'; to open a service without it, type 'killswitchctl open "
        + "SERVICE --without-daemon' as root"
}

/// Performs `work`. An error of it ends the command with this status and the error's description.
func orFail<Value>(_ status: ExitStatus, _ work: () throws -> Value) throws -> Value {
    do {
        return try work()
    } catch {
        throw CommandFailure(status, "\(error)")
    }
}
