import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Records

/// The files that a daemon publishes in its runtime directory, for commands that read.
struct PublishedFiles {
    /// The runtime directory, as an absolute path.
    let directory: String
    /// The time by which files are out of date or not.
    let now: Instant
    /// Whether the directory was named on the command line.
    private let isNamed: Bool

    /// The files in the directory of the options, or in the default one.
    init(_ options: CommonOptions) throws(CommandFailure) {
        directory = try orFail(.usage) {
            try File.absolute(
                Directories.published(
                    option: options.runtimeDirectory, isRoot: geteuid() == 0,
                    environment: environmentVariable, exists: isThere,
                    holdsFiles: RuntimeDirectory.holdsFiles))
        }
        now = EventLoop.wallClock
        isNamed = options.runtimeDirectory != nil
    }

    /// The services that have files.
    func services() throws(CommandFailure) -> [ServiceName] {
        let names: [String]
        do {
            names = try Directory.list(directory)
        } catch  where error.isNotFound {
            throw CommandFailure(.unreachable, "\(error); is killswitchd running?")
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
        return names.compactMap { ServiceName($0) }.filter { name in
            // A service whose state cannot be read exists nevertheless.
            do { return try state(of: name) != nil } catch { return true }
        }
    }

    /// The state of a service; nil if it has none.
    func state(of service: ServiceName) throws(UnreadableState) -> PublishedState? {
        try PublishedState.read(in: "\(directory)/\(service)")
    }

    /// The state of a service; throws if it has none.
    func known(_ service: ServiceName) throws(CommandFailure) -> PublishedState {
        guard let state = try orFail(.no, { try state(of: service) }) else {
            throw try unknown(service)
        }
        return state
    }

    /// Throws if a service has no files.
    func check(_ service: ServiceName) throws(CommandFailure) {
        guard try services().contains(service) else { throw try unknown(service) }
    }

    /// The failure for a service that has no files.
    func unknown(_ service: ServiceName) throws(CommandFailure) -> CommandFailure {
        let others = try services()
        let hint =
            others.isEmpty
            ? "no service is known yet" : "known: \(others.map(\.text).joined(separator: ", "))"
        return CommandFailure(.noSuchService, "no such service '\(service)'; \(hint)")
    }

    /// How long ago the source of a state last confirmed its flags; nil if that is unknown.
    func age(of state: PublishedState) -> Duration? {
        guard let source = state.object["source"]?.string.flatMap({ SourceName($0) }) else {
            return nil
        }
        do {
            let mark = "\(directory)/\(FileName.source(source))"
            let confirmed = Instant(microseconds: try File.modificationTime(of: mark))
            return max(.zero, now - confirmed)
        } catch {
            return nil
        }
    }

    /// Why the configuration on disk is refused; nil if it is in force.
    func refusal() throws(CommandFailure) -> String? {
        try orFail { try RuntimeDirectory.refusal(in: directory) }
    }

    /// The state directory of the daemon that published these files. If the runtime directory was named,
    /// the state directory must be too: the flags of another daemon would explain nothing.
    func stateDirectory(_ option: String?) throws(CommandFailure) -> String {
        guard option != nil || !isNamed else {
            throw CommandFailure(.usage, "--runtime-directory was given without --state-directory")
        }
        return try orFail(.usage) {
            try File.absolute(
                Directories.stored(
                    option: option, publishedIn: directory, isRoot: geteuid() == 0,
                    environment: environmentVariable))
        }
    }

    /// The message for a state file that is past `valid_until`.
    func isOutOfDate(_ service: ServiceName) -> String {
        "the state of '\(service)' is out of date; is killswitchd running?"
    }
}

/// Whether a path exists, and this user may see it.
private func isThere(_ path: String) -> Bool {
    do {
        return try File.exists(path)
    } catch {
        return false
    }
}

/// The value of an environment variable; nil if it is not set.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

extension PublishedState {
    /// The state in a few words: "countdown, 12 days left".
    var summary: String {
        guard state == .countdown, let days = daysLeft else { return state.rawValue }
        return "\(state.rawValue), \(days) \(days == 1 ? "day" : "days") left"
    }

    /// `days_left`; nil without an end.
    var daysLeft: Int64? { object["days_left"]?.number?.int64 }

    /// The reason's slug.
    var reason: String { object.text("reason") }
}
