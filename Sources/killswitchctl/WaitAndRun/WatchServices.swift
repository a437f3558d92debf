import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Storage

/// `killswitchctl watch [SERVICE…]`
struct WatchServices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print a line for each change of a service.",
        discussion: """
            Begins with the current state, and goes on until it is stopped, or until nobody reads its \
            output any more. A line comes with each \
            change of state, reason, days left or text, and when a state file is out of date. \
            Services that are added later are watched too, unless some are named.

            example: killswitchctl watch --json | while read -r line; do notify "$line"; done
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print state.json of the service in one line, with 'current'.") var json = false

    @Argument(
        help: "The services; by default all of them.", completion: .services,
        transform: ServiceName.read)
    var services: [ServiceName] = []

    func run() throws {
        let published = try PublishedFiles(common)
        try ServiceWatcher(services, in: published).run { change in
            if json { printJSON(change.json, .compact) } else { printLine(change.line) }
            try flushOutput()
        }
    }
}

/// Watches the state files of services.
final class ServiceWatcher {
    private let named: [ServiceName]
    private let published: PublishedFiles
    private let loop: EventLoop
    private let zone: Zone
    /// Fires when the directory itself is created or removed.
    private var directory: PathWatch?
    /// Fires when an entry of the directory is created or removed.
    private var entries: Watch?
    private var files: [ServiceName: PathWatch] = [:]
    private var validity: WallTimer?
    /// Fires with each sign of life, while states are out of date for want of one.
    private var life: PathWatch?
    /// Fires when the reader of the output is gone.
    private var output: Descriptor?
    private var isUnread = false
    /// Whether anything may have changed. After every event of the loop files may be half published.
    private var isDue = true
    /// The last change of each service, by the facts that distinguish it.
    private var reported: [ServiceName: [JSON.Value?]] = [:]
    /// The states that could not be read at the last look.
    private var unreadable: [ServiceName: UnreadableState] = [:]

    /// A watcher of these services; of all present and future services if the list is empty.
    init(_ named: [ServiceName], in published: PublishedFiles) throws {
        self.named = named
        self.published = published
        loop = try EventLoop()
        zone = ZoneFiles.local
    }

    /// Calls `report` for each change, until something fails. If the reader of the output ends, as of
    /// `watch | head -1`, it ends as by SIGPIPE: it would learn that at the next change only.
    func run(_ report: (ServiceChange) throws -> Void) throws {
        output = readerWatch()
        directory = PathWatch(loop, path: published.directory) { [unowned self] in
            watchEntries()
            isDue = true
        }
        watchEntries()
        validity = try WallTimer(loop) { [unowned self] _ in isDue = true }
        while !isUnread {
            if isDue { try readAll(report) }
            // Without a watch left in the kernel it looks each second.
            isDue = files.values.contains { $0.problem != nil }
            try loop.runOnce(.seconds(isDue ? 1 : 3600))
        }
        throw CommandEnd(end: .killed(SIGPIPE))
    }

    /// A pipe, a socket or a terminal tells when the other end is closed. A file has no other end.
    private func readerWatch() -> Descriptor? {
        readable {
            try Descriptor(loop, STDOUT_FILENO, .error) { [unowned self] _ in
                isUnread = true
                output = nil
            }
        }
    }

    private func readAll(_ report: (ServiceChange) throws -> Void) throws {
        isDue = false
        let known = try services()
        for service in known where files[service] == nil {
            files[service] = watch("\(service)/\(FileName.state)")
        }
        let services = Set(known).union(reported.keys).sorted()
        let times = try services.compactMap { try readState(of: $0, report) }
        validity?.set(at: times.min())
        life = times.count < services.count ? life ?? watch(FileName.alive) : nil
    }

    private func watch(_ name: String) -> PathWatch {
        PathWatch(loop, path: "\(published.directory)/\(name)") { [unowned self] in isDue = true }
    }

    /// Tells of a service if it has changed; returns when its state will be out of date.
    private func readState(
        of service: ServiceName, _ report: (ServiceChange) throws -> Void
    ) throws -> Instant? {
        let state: PublishedState?
        do {
            state = try published.state(of: service)
            unreadable[service] = nil
        } catch {
            // Reported once. A daemon that starts removes the marker, and writes the file a moment later.
            let before = unreadable[service]
            let isKnown =
                before?.problem == error.problem
                && (error.marker == nil || before?.marker == error.marker)
            if !isKnown { printError("\(error)") }
            unreadable[service] = error
            return nil
        }
        guard state != nil || reported[service] != nil else { return nil }
        let now = loop.now.wall
        let change = ServiceChange(
            service: service, state: state,
            isCurrent: state.map { published.isCurrent($0, at: now) } ?? true, time: now, zone: zone
        )
        if reported[service] != change.essence { try report(change) }
        reported[service] = state == nil ? nil : change.essence
        guard let until = state.map({ published.end(of: $0, at: now) }), until >= now else {
            return nil
        }
        return until + .milliseconds(1)
    }

    /// The services to look at, whether they have a state yet or not.
    private func services() throws -> [ServiceName] {
        if !named.isEmpty { return named }
        let names = try File.ifThere(Directory.list(published.directory)) ?? []
        return names.compactMap(FileName.service)
    }

    private func watchEntries() {
        do {
            let mask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR
            entries = try Watch(loop, published.directory, mask) { [unowned self] _ in isDue = true
            }
        } catch {
            // The directory does not exist yet; `directory` fires when it does.
            entries = nil
        }
    }
}

/// A line of `watch`: the new state of a service.
struct ServiceChange {
    let service: ServiceName
    /// Nil if the service is no longer configured.
    let state: PublishedState?
    /// Whether the state is not out of date.
    let isCurrent: Bool
    let time: Instant
    let zone: Zone

    /// The facts that distinguish this state from the last, without the times that move without a change.
    var essence: [JSON.Value?] {
        guard let object = state?.object else { return [] }
        let passing = ["decided_at", "valid_until", "fetched_at", "version"]
        return object.members.filter { !passing.contains($0.key) }.map(\.value) + [.bool(isCurrent)]
    }

    var line: String {
        let words =
            switch state {
            case nil: "is no longer configured"
            case .some(let state) where !isCurrent:
                "is out of date (it was \(state.summary)); see 'systemctl status killswitchd'"
            case .some(let state):
                "\(state.summary): \(state.object["reason_text"]?.string ?? state.reason)"
            }
        return "\(zone.rfc3339(time)) \(service) \(words)"
    }

    /// The object for programs: `state.json` with `current`.
    var json: JSON.Value {
        var object = state?.object ?? ["service": .string(service.text), "state": .null]
        object["current"] = .bool(isCurrent)
        return .object(object)
    }
}
