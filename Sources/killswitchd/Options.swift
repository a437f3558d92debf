import COptions
import Files
import Glibc
import Records
import Settings
import SystemConfiguration

/// What the command line asks for.
struct Options {
    enum Purpose {
        case follow
        case decideOnce
        case check
        case help
        case version
    }

    var purpose = Purpose.follow
    /// The main file; nil is the system's.
    var configuration: String?
    var runtimeDirectory: String?
    var stateDirectory: String?
    /// Whether systemd units are moved too.
    var movesGates = false

    /// Where the configuration is looked for.
    func places() throws(FileError) -> ConfigurationPlaces {
        let places: ConfigurationPlaces =
            if let configuration { try .beside(configuration) } else { .standard }
        return isOfTheSystem ? places : places.trusting(geteuid())
    }

    /// Whether the daemon's files are where those of the system's are.
    private var isOfTheSystem: Bool {
        do {
            return try Directories.runtime(
                option: runtimeDirectory, isRoot: geteuid() == 0, environment: environmentVariable)
                == Directories.system
        } catch {
            return false
        }
    }

    /// Reads the arguments of this process.
    static func parse() throws(UsageError) -> Options {
        var options = Options()
        while true {
            let given = unsafe next_option(CommandLine.argc, CommandLine.unsafeArgv)
            let argument = unsafe given.argument.map { unsafe String(cString: $0) }
            switch unsafe option_code(given.code) {
            case OPTION_END:
                guard unsafe given.next_index == CommandLine.argc else {
                    let excess = CommandLine.arguments[Int(unsafe given.next_index)]
                    throw UsageError("unexpected argument '\(excess)'")
                }
                guard !options.movesGates || options.purpose != .decideOnce else {
                    throw UsageError("--once with --gates: nobody would follow what gates do")
                }
                return options
            case OPTION_CONFIG: options.configuration = argument
            case OPTION_RUNTIME_DIRECTORY: options.runtimeDirectory = argument
            case OPTION_STATE_DIRECTORY: options.stateDirectory = argument
            case OPTION_ONCE: options.purpose = .decideOnce
            case OPTION_CHECK: options.purpose = .check
            case OPTION_HELP: options.purpose = .help
            case OPTION_VERSION: options.purpose = .version
            case OPTION_GATES: options.movesGates = true
            default:
                // getopt_long has said what is wrong.
                throw UsageError(nil)
            }
        }
    }
}

/// A command line that asks for nothing we do.
struct UsageError: Error {
    /// What is still to be said about it.
    let complaint: String?

    init(_ complaint: String?) {
        self.complaint = complaint
    }
}
