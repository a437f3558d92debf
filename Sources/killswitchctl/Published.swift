import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Records

/// What the daemon has published, as it stands in the runtime directory now.
struct Published {
    let directory: String
    let now: Instant
    /// Whether the directory was named on the command line.
    private let isOwnChoice: Bool

    init(_ options: CommonOptions) throws(CommandFailure) {
        do {
            directory = try File.absolute(
                Directories.published(
                    option: options.runtimeDirectory, isRoot: geteuid() == 0,
                    environment: environmentVariable, exists: isThere,
                    holdsFiles: RuntimeDirectory.holdsFiles))
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        now = EventLoop.wallClock
        isOwnChoice = options.runtimeDirectory != nil
    }

    /// Every service that has files, by name.
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
            // One that cannot be read is there nevertheless.
            do { return try state(of: name) != nil } catch { return true }
        }
    }

    /// The state of one service; nil where there is none.
    func state(of service: ServiceName) throws(UnreadableState) -> PublishedState? {
        try PublishedState.read(in: "\(directory)/\(service)")
    }

    /// The state of a service that has to be there.
    func known(_ service: ServiceName) throws(CommandFailure) -> PublishedState {
        do {
            if let state = try state(of: service) { return state }
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
        throw try unknown(service)
    }

    /// Throws where a service has no files.
    func check(_ service: ServiceName) throws(CommandFailure) {
        guard try services().contains(service) else { throw try unknown(service) }
    }

    /// What to say of a service that has no files.
    func unknown(_ service: ServiceName) throws(CommandFailure) -> CommandFailure {
        let others = try services()
        let hint =
            others.isEmpty
            ? "no service is known yet" : "known: \(others.map(\.text).joined(separator: ", "))"
        return CommandFailure(.noSuchService, "no such service '\(service)'; \(hint)")
    }

    /// How long ago the source of a state last confirmed its flags; nil where that is not known.
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

    /// Why the configuration on disk is not the one in force; nil where it is.
    func refusal() throws(CommandFailure) -> String? {
        do {
            return try RuntimeDirectory.refusal(in: directory)
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    /// The state directory of the daemon that published this. For a directory of one's own choice it
    /// has to be told, for the flags of another daemon would explain nothing.
    func stateDirectory(_ option: String?) throws(CommandFailure) -> String {
        guard option != nil || !isOwnChoice else {
            throw CommandFailure(.usage, "--runtime-directory was given without --state-directory")
        }
        do {
            return try File.absolute(
                Directories.stored(
                    option: option, publishedIn: directory, isRoot: geteuid() == 0,
                    environment: environmentVariable))
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
    }

    /// What to say of a state file that is past its time.
    func isOutOfDate(_ service: ServiceName) -> String {
        "the state of '\(service)' is out of date; is killswitchd running?"
    }
}

/// Whether a path leads to anything that we may see.
private func isThere(_ path: String) -> Bool {
    do {
        return try File.exists(path)
    } catch {
        return false
    }
}

/// The value of an environment variable.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
