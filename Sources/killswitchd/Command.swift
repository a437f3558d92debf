import Decision
import EventLoop
import Faults
import Files
import Glibc
import Records
import SystemConfiguration

/// The program: reads its command line, does what that asks for, and gives the exit status.
enum Command {
    static func run() -> Int32 {
        let log = Log()
        do {
            let options = try Options.parse()
            switch options.purpose {
            case .help: print(Usage.text)
            case .version: print("killswitchd \(version)")
            case .check: return Check.run(options, log)
            case .follow, .decideOnce: return try follow(options, log)
            }
            return ExitStatus.success
        } catch let error as UsageError {
            if let complaint = error.complaint { log.write(.error, complaint) }
            log.write(.error, Usage.hint)
            return ExitStatus.usage
        } catch let error as ConfigurationError {
            log.write(.error, "\(error)")
            return ExitStatus.configuration
        } catch {
            log.write(.error, "\(error)")
            return ExitStatus.failure
        }
    }

    static let version = "0.1.0"

    private static func follow(_ options: Options, _ log: Log) throws -> Int32 {
        StandardError.outliveReaders()
        try Signals.hold(Daemon.signals)
        let daemon = try Daemon(options, log)
        return try daemon.run()
    }
}

/// The exit statuses of the daemon, after sysexits(3) where that has one.
enum ExitStatus {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2
    /// `--once`, and no source answered.
    static let noAnswer: Int32 = 75
    static let configuration: Int32 = 78
}
