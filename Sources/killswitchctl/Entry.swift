import ArgumentParser
import Files

/// Parses the command line, runs the command, and turns what it throws into an exit status.
enum Entry {
    static func run() -> Int32 {
        do {
            var command = try Killswitchctl.parseAsRoot()
            try command.run()
            return ExitStatus.success.rawValue
        } catch let failure as CommandFailure {
            if let message = failure.message { printError("killswitchctl: \(message)") }
            return failure.status.rawValue
        } catch {
            return explain(error)
        }
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
