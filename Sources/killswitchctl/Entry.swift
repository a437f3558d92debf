import ArgumentParser
import Faults
import Glibc
import Settings

/// Parses the command line, runs the command, and turns what it throws into an exit status.
enum Entry {
    static func run() -> Int32 {
        do {
            let arguments = commandFirst(Array(CommandLine.arguments.dropFirst()))
            try refuseUnknownCommand(arguments.first)
            var command = try Killswitchctl.parseAsRoot(arguments)
            try command.run()
            return flushed() ? ExitStatus.success.rawValue : ExitStatus.no.rawValue
        } catch let failure as CommandFailure {
            if let message = failure.message { printError("killswitchctl: \(message)") }
            return failure.status.rawValue
        } catch let command as CommandEnd {
            return command.pass()
        } catch {
            return explain(error)
        }
    }

    /// The parser would call it an unexpected argument.
    private static func refuseUnknownCommand(_ word: String?) throws(CommandFailure) {
        let commands =
            Killswitchctl.configuration.subcommands.map { $0.nameOnCommandLine } + ["help"]
        guard let word, !word.hasPrefix("-"), !commands.contains(word) else { return }
        let hint =
            nearest(to: word, among: commands).map { "did you mean '\($0)'?" }
            ?? "there are: \(commands.joined(separator: ", "))"
        throw CommandFailure(.usage, "no such command '\(word)'; \(hint)")
    }

    /// Options of every command may stand before its name too.
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

    /// Whether everything that was printed could be written.
    private static func flushed() -> Bool {
        if fflush(nil) == 0 { return true }
        printError("killswitchctl: write the output: errno \(errno)")
        return false
    }

    /// Help asked for goes to stdout, a usage error to stderr with status 2.
    private static func explain(_ error: any Error) -> Int32 {
        let message = Killswitchctl.fullMessage(for: error)
        if Killswitchctl.exitCode(for: error) == .success {
            print(message)
            return ExitStatus.success.rawValue
        }
        printError(message)
        return ExitStatus.usage.rawValue
    }
}

extension ParsableCommand {
    /// What is typed to run it.
    fileprivate static var nameOnCommandLine: String {
        configuration.commandName ?? _commandName
    }
}

/// Prints a line on stderr.
func printError(_ line: String) {
    StandardError.write(line: line)
}
