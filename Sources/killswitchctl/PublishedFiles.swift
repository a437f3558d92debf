import CivilTime
import Configuration
import ControlSocket
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Storage

/// The files that a daemon publishes in its runtime directory, for commands that read.
struct PublishedFiles {
    /// The runtime directory, as an absolute path.
    let directory: String
    /// The time by which files are out of date or not.
    private(set) var now: Instant
    /// Whether the directory was named on the command line.
    private let isNamed: Bool

    /// The files in the directory of the options, or in the default one.
    init(_ options: CommonOptions) throws { try self.init(in: options.runtimeDirectory) }

    /// The files in this directory, or in the default one.
    init(in named: String?) throws {
        directory = try orFail(.usage) {
            try File.absolute(
                Directories.published(
                    option: named, isRoot: geteuid() == 0,
                    environment: environmentVariable,
                    exists: { path in readable { try File.exists(path) } ?? false },
                    holdsFiles: RuntimeDirectory.holdsFiles))
        }
        now = EventLoop.wallClock
        isNamed = named != nil
    }

    /// Takes the present time for what is out of date.
    mutating func updateTime() { now = EventLoop.wallClock }

    /// The services that have files. Throws if there is no directory.
    func services() throws -> [ServiceName] {
        do {
            return services(among: try Directory.list(directory))
        } catch {
            guard error.isNotFound else { throw error }
            throw CommandFailure(.unreachable, "\(error); is killswitchd running?")
        }
    }

    /// The services that have files; none if no daemon has run since the boot.
    func servicesIfAny() throws -> [ServiceName] {
        services(among: try File.ifThere(Directory.list(directory)) ?? [])
    }

    private func services(among names: [String]) -> [ServiceName] {
        names.compactMap(FileName.service).filter { name in
            // A service whose state cannot be read exists nevertheless.
            readable { try state(of: name) != nil } ?? true
        }
    }

    /// The state of a service; nil if it has none.
    func state(of service: ServiceName) throws(UnreadableState) -> PublishedState? {
        try PublishedState.read(in: "\(directory)/\(service)")
    }

    /// What the gate of a service is in fact; nil while that is not known.
    func gate(of service: ServiceName) -> PublishedGate? {
        PublishedGate.read(in: "\(directory)/\(service)")
    }

    /// Whether a service is only observed, so that nothing is closed whatever was decided. Beside the marker `closed`
    /// it is not, or not yet.
    func isObserved(_ service: ServiceName) -> Bool {
        readable {
            let folder = "\(directory)/\(service)"
            return try File.exists("\(folder)/\(FileName.observed)")
                && !File.exists("\(folder)/\(Gate.closed.rawValue)")
        } ?? false
    }

    /// The gate as the commands show it beside a verdict.
    func gate(of service: ServiceName, beside decided: Gate?, at time: Instant? = nil) -> ShownGate
    {
        ShownGate(decided: decided, published: gate(of: service), now: time ?? now)
    }

    /// The state of a service; throws if it has none.
    func known(_ service: ServiceName) throws -> PublishedState {
        if let state = try state(of: service) { return state }
        let names = try services()
        // Its files may have come between the two looks.
        if names.contains(service), let state = try state(of: service) { return state }
        throw missing(service, among: names)
    }

    /// Throws if a service has no files.
    func check(_ service: ServiceName) throws {
        let names = try services()
        guard names.contains(service) else { throw missing(service, among: names) }
    }

    /// The failure for a service without files, while these have some. Before any decision it may well exist.
    private func missing(_ service: ServiceName, among known: [ServiceName]) -> CommandFailure {
        if known.isEmpty, let absence { return CommandFailure(.undecided, absence) }
        return unknown(service, among: known)
    }

    /// The failure for a service that does not exist, while these do.
    func unknown(_ service: ServiceName, among known: [ServiceName]) -> CommandFailure {
        CommandFailure(
            .noSuchService,
            noSuch("service", service.text, known.map(\.text), orNone: "is known yet"))
    }

    /// When a source last confirmed its flags in this boot, by its mark; nil if it never did.
    func confirmation(of source: SourceName) throws(FileError) -> Instant? {
        let mark = "\(directory)/\(FileName.source(source))"
        return try File.ifThere(File.modificationTime(of: mark)).map(Instant.init(microseconds:))
    }

    /// How long ago a source confirmed its flags; nil if it never did.
    func age(ofSource name: String) -> Duration? {
        let confirmed = readable { try SourceName(name).flatMap(confirmation) } ?? nil
        return confirmed.map { max(.zero, now - $0) }
    }

    /// The state directory of this daemon. It must be named if the runtime directory was: other flags explain nothing.
    func stateDirectory(_ option: String?) throws -> String {
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

    /// The daemon. Without a `timeout` a call lasts as long as it works on it; a terminal shows that after a second.
    func daemon(timeout: Duration? = nil) -> VarlinkClient {
        VarlinkClient(
            "\(directory)/\(FileName.controlSocket)",
            timeLimit: timeout
        ) { time in
            Terminal.showProgress(time.map { "waiting for killswitchd … \($0.wholeSeconds) s" })
        }
    }

    /// Whether a process listens at the control socket.
    var hasListener: Bool {
        do {
            _ = try daemon(timeout: .seconds(2)).call("GetInfo", of: Interface.standard)
            return true
        } catch {
            return (error as? SocketError)?.isNobodyThere != true
        }
    }

    /// What the whole host is, as the daemon has written it last; nil without the file.
    func host() throws -> JSON.Object? { try RuntimeDirectory.host(in: directory) }

    /// The daemon's last sign of life; nil if the file cannot be looked at, which says nothing.
    var life: RuntimeDirectory.Life? { readable { try RuntimeDirectory.life(in: directory) } }

    /// When the daemon last gave a sign of life; nil if none ever did, as with `killswitchd --once`.
    var signOfLife: Instant? { life?.last }

    /// Until when a state counts: until its file is out of date, or the daemon is silent for too long.
    func end(of state: PublishedState, at time: Instant) -> Instant {
        guard let sign = signOfLife else { return state.validUntil }
        let limit = RuntimeDirectory.longestSilence
        // A time far ahead comes from another clock.
        guard sign - time <= limit else { return sign - limit - limit }
        return min(state.validUntil, sign + limit)
    }

    /// Whether a state counts at `time`.
    func isCurrent(_ state: PublishedState, at time: Instant) -> Bool {
        time <= end(of: state, at: time)
    }

    /// The message for a state that does not count any more.
    func isOutOfDate(_ service: ServiceName) -> String {
        let silence = signOfLife.map { now - $0 }.flatMap { silence in
            silence > RuntimeDirectory.longestSilence
                ? ": no sign of life from killswitchd for \(silence.rough)" : nil
        }
        return "the state of '\(service)' is out of date\(silence ?? ""); see "
            + "'systemctl status killswitchd'"
    }
}

/// The value of an environment variable; nil if it is not set.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

extension PublishedState {
    /// The state in a few words: "countdown, 12 days left".
    var summary: String { object.stateSummary }

    var reason: String { object.text("reason") }
}

// The objects of the daemon's files and replies.
extension JSON.Object {
    /// The object of a member; empty without it.
    func object(_ key: String) -> JSON.Object { self[key]?.object ?? [:] }

    /// The string of a member; empty without it.
    func text(_ key: String) -> String { self[key]?.string ?? "" }

    /// The state of a `state.json` in a few words: `countdown, 12 days left`.
    var stateSummary: String {
        let state = text("state")
        guard state == State.countdown.rawValue, let days = self["days_left"]?.number?.int64 else {
            return state
        }
        return "\(state), \(days) \(days == 1 ? "day" : "days") left"
    }
}
