import Configuration
import Decision
import EventLoop
import Files
import POSIX

/// The program: parses its command line and runs in the mode that it names.
enum Command {
    /// Runs the program; returns the exit status.
    static func run() -> Int32 {
        let log = Log()
        defer { log.finish() }
        do {
            let options = try Options.parse()
            switch options.purpose {
            case .help: print(Usage.text)
            case .version: print("killswitchd \(ProgramVersion.current)")
            case .check: return Check.run(options, log)
            case .moveGates: return try MoveGates.run(options, log)
            case .run, .decideOnce: return try follow(options, log)
            }
            return DaemonExitStatus.success
        } catch let error as UsageError {
            if let message = error.message { log.write(.error, message) }
            log.write(.error, Usage.hint)
            return DaemonExitStatus.usage
        } catch let error as ConfigurationError {
            log.write(.error, "\(error)")
            return DaemonExitStatus.configuration
        } catch {
            log.write(.error, "\(error)")
            return DaemonExitStatus.failure
        }
    }

    private static func follow(_ options: Options, _ log: Log) throws -> Int32 {
        StandardError.outliveReaders()
        Credential.keepInMemory()
        try Signals.hold(Daemon.signals)
        let daemon = try Daemon(options, log)
        return try daemon.run()
    }
}

/// The exit statuses of the daemon; those above 63 are of sysexits(3).
enum DaemonExitStatus {
    static let success: Int32 = 0
    /// Any error without a status of its own.
    static let failure: Int32 = 1
    static let usage: Int32 = 2
    /// No source answered `--once` (EX_TEMPFAIL).
    static let noAnswer: Int32 = 75
    /// The configuration is invalid (EX_CONFIG).
    static let configuration: Int32 = 78
}
