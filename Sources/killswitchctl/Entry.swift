import ArgumentParser
import Files
import Glibc

/// Parses the command line, runs the command, and turns what it throws into an exit status.
enum Entry {
    static func run() -> Int32 {
        do {
            var command = try Killswitchctl.parseAsRoot(
                commandFirst(Array(CommandLine.arguments.dropFirst())))
            try command.run()
            return flushed() ? ExitStatus.success.rawValue : ExitStatus.no.rawValue
        } catch let failure as CommandFailure {
            if let message = failure.message { printError("killswitchctl: \(message)") }
            return failure.status.rawValue
        } catch {
            return explain(error)
        }
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

/// Prints a line on stderr.
func printError(_ line: String) {
    StandardError.write(line: line)
}
