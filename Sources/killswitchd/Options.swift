import COptions
import Configuration
import Files
import Glibc
import Storage

/// The options of the command line.
struct Options {
    enum Purpose { case run, decideOnce, check, moveGates, help, version }

    /// The mode; by default, follow the sources until a signal.
    var purpose = Purpose.run
    /// The path of the main file; nil for the system's.
    var configuration: String?
    /// Whether `--check` fetches from each source.
    var isProbing = false
    /// The runtime directory; nil if the environment names it.
    var runtimeDirectory: String?
    /// The state directory; nil if the environment names it.
    var stateDirectory: String?
    var movesGates = false

    /// The places that are searched for the configuration.
    func places() throws(FileError) -> ConfigurationPlaces {
        let places: ConfigurationPlaces =
            if let configuration { try .beside(configuration) } else { .standard }
        // The system's daemon is the one with the system's runtime directory.
        let runtime = Result { try DirectoryPaths.runtime(self) }
        if case .success(Directories.system) = runtime { return places }
        return places.trusting(geteuid())
    }

    /// Parses the arguments of this process.
    static func parse() throws(UsageError) -> Options {
        var options = Options()
        while true {
            let given = unsafe next_option(CommandLine.argc, CommandLine.unsafeArgv)
            let argument = unsafe given.argument.map { unsafe String(cString: $0) }
            switch unsafe option_code(given.code) {
            case OPTION_END:
                guard unsafe given.next_index == CommandLine.argc else {
                    let excess = CommandLine.arguments[Int(unsafe given.next_index)]
                    throw UsageError(message: "unexpected argument '\(excess)'")
                }
                guard !options.movesGates || options.purpose != .decideOnce else {
                    throw UsageError(
                        message:
                            "--once cannot be used with --gates: no daemon would follow the units")
                }
                guard !options.isProbing || options.purpose == .check else {
                    throw UsageError(message: "--probe needs --check")
                }
                return options
            case OPTION_CONFIG: options.configuration = argument
            case OPTION_RUNTIME_DIRECTORY: options.runtimeDirectory = argument
            case OPTION_STATE_DIRECTORY: options.stateDirectory = argument
            case OPTION_ONCE: options.purpose = .decideOnce
            case OPTION_CHECK: options.purpose = .check
            case OPTION_PROBE: options.isProbing = true
            case OPTION_HELP: options.purpose = .help
            case OPTION_VERSION: options.purpose = .version
            case OPTION_GATES: options.movesGates = true
            case OPTION_MOVE_GATES: options.purpose = .moveGates
            default:
                // getopt_long(3) has printed the error.
                throw UsageError(message: nil)
            }
        }
    }
}

/// A wrong command line.
struct UsageError: Error {
    /// Nil if it is printed already.
    let message: String?
}

/// The text of `--help`.
enum Usage {
    static let text = """
        usage: killswitchd [--config FILE] [--runtime-directory D] [--state-directory D]
                           [--gates | --once | --check [--probe] | --move-gates]

        Follows remote flags, decides for each service whether it may run, and writes the
        decision to files for scripts and people.

          -c, --config FILE        the configuration (/etc/killswitchd/killswitchd.toml)
          --runtime-directory D    the directory for state.json and the other files
          --state-directory D      the directory that keeps flags over restarts
          --once                   decide once, write the files and exit: 0, or 75 if no
                                   source answered
          --check                  check the configuration, print its files and each
                                   setting with its origin, and exit: 0, or 78 if it
                                   is invalid; warn of files that the daemon could
                                   not read
          --probe                  with --check: fetch from each source once, and ask
                                   each guard; 75 if a source does not answer
          --gates                  move systemd units too: stop the units that are
                                   attached to a service while it is closed
          --move-gates             be killswitchd-gates.service: start and stop what the
                                   files of the daemon say, as root
          -h, --help               print this
          --version                print the version

        The directories come from the options, else from RUNTIME_DIRECTORY and
        STATE_DIRECTORY, else they are /run/killswitchd and /var/lib/killswitchd for root,
        $XDG_RUNTIME_DIR/killswitchd and $XDG_STATE_HOME/killswitchd for others.

        example: killswitchd --check --config ./killswitchd.toml

        See killswitchd(8) and killswitchd.toml(5).
        """

    /// The line after a usage error.
    static let hint = "Try 'killswitchd --help'."
}

/// The directories of this daemon: by the options, the environment, or the user's defaults.
struct DirectoryPaths {
    /// The state directory, as an absolute path.
    let state: String
    /// The runtime directory, as an absolute path.
    let runtime: String

    /// Throws if a directory is unknown, or if both are the same.
    init(_ options: Options) throws {
        state = try File.absolute(
            Directories.state(
                option: options.stateDirectory, isRoot: geteuid() == 0,
                environment: environmentVariable))
        runtime = try File.absolute(Self.runtime(options))
        guard state != runtime else {
            throw UsageError(
                message: "the runtime and the state directory are the same: '\(state)'")
        }
    }

    /// The runtime directory as it is named.
    static func runtime(_ options: Options) throws -> String {
        try Directories.runtime(
            option: options.runtimeDirectory, isRoot: geteuid() == 0,
            environment: environmentVariable)
    }
}
