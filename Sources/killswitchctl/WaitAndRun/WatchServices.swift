import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import JSON
import Records

/// `killswitchctl watch [SERVICE…]`
struct WatchServices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a line for each change of a service.",
        discussion: """
            Begins with the current state, and goes on until it is stopped. A line comes with each \
            change of state, reason, days left or text, and when a state file is out of date. \
            Services that are added later are watched too, unless some are named.

            example: killswitchctl watch --json | while read -r line; do notify "$line"; done
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print state.json of the service in one line, with 'current'.")
    var json = false

    @Argument(help: "The services; by default all of them.", completion: .services)
    var services: [ServiceName] = []

    func run() throws {
        let published = try PublishedFiles(common)
        try ServiceWatcher(services, in: published) { change in
            printNow(json ? change.json.serialized(.compact) : change.line)
        }.run()
    }
}

/// Watches the state files of services, and calls a function for each change.
final class ServiceWatcher {
    private let named: [ServiceName]
    private let published: PublishedFiles
    private let loop: EventLoop
    private let zone: Zone
    private let tell: (ServiceChange) -> Void
    /// Fires when the directory itself is created or removed.
    private var directory: PathWatch?
    /// Fires when an entry of the directory is created or removed.
    private var entries: Watch?
    private var files: [ServiceName: PathWatch] = [:]
    private var validity: WallTimer?
    /// The last change of each service, by the facts that distinguish it.
    private var told: [ServiceName: [JSON.Value?]] = [:]
    /// The states that could not be read at the last look.
    private var unreadable: [ServiceName: UnreadableState] = [:]
    private var problem: CommandFailure?

    /// A watcher of these services; of all present and future services if the list is empty.
    init(
        _ named: [ServiceName], in published: PublishedFiles,
        tell: @escaping (ServiceChange) -> Void
    ) throws {
        self.named = named
        self.published = published
        self.tell = tell
        loop = try EventLoop()
        zone = try ZoneFiles.system()
    }

    /// Watches until something fails.
    func run() throws {
        directory = PathWatch(loop, path: published.directory) { [unowned self] in
            watchEntries()
            look()
        }
        watchEntries()
        validity = try WallTimer(loop) { [unowned self] _ in look() }
        look()
        if problem == nil { _ = try loop.run() }
        if let problem { throw problem }
    }

    private func look() {
        do {
            let known = try services()
            for service in known where files[service] == nil { follow(service) }
            var next: Instant?
            for service in Set(known).union(told.keys).sorted() {
                guard let until = look(at: service) else { continue }
                next = next.map { min($0, until) } ?? until
            }
            validity?.set(at: next)
        } catch {
            problem = error
            loop.exit(ExitStatus.no.rawValue)
        }
    }

    /// Reports a service if it has changed; returns when its state will be out of date.
    private func look(at service: ServiceName) -> Instant? {
        let state: PublishedState?
        do {
            state = try published.state(of: service)
            unreadable[service] = nil
        } catch {
            // Reported once, and the other services go on.
            if unreadable[service] != error { printError("killswitchctl: \(error)") }
            unreadable[service] = error
            return nil
        }
        guard state != nil || told[service] != nil else { return nil }
        let now = loop.now.wall
        let change = ServiceChange(
            service: service, state: state, isCurrent: state?.isCurrent(at: now) ?? true,
            time: now, zone: zone)
        if told[service] != change.essence { tell(change) }
        told[service] = state == nil ? nil : change.essence
        guard let until = state?.validUntil, until >= now else { return nil }
        return until + .milliseconds(1)
    }

    /// The services to look at, whether they have a state yet or not.
    private func services() throws(CommandFailure) -> [ServiceName] {
        if !named.isEmpty { return named }
        do {
            return try Directory.list(published.directory).compactMap { ServiceName($0) }
        } catch  where error.isNotFound {
            return []
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    private func watchEntries() {
        do {
            entries = try Watch(
                loop, published.directory, [.create, .movedTo, .delete, .onlyDirectory]
            ) { [unowned self] _ in look() }
        } catch {
            // The directory does not exist yet; `directory` fires when it does.
            entries = nil
        }
    }

    private func follow(_ service: ServiceName) {
        let file = "\(published.directory)/\(service)/\(FileName.state)"
        files[service] = PathWatch(loop, path: file) { [unowned self] in look() }
    }
}

/// A line of `watch`: the new state of a service.
struct ServiceChange {
    /// The service.
    let service: ServiceName
    /// Its state; nil if it is no longer configured.
    let state: PublishedState?
    /// Whether the state is not out of date.
    let isCurrent: Bool
    /// When the change was seen.
    let time: Instant
    /// The zone for the time.
    let zone: Zone

    /// The facts that distinguish this state from the last state. Times of writing and of validity
    /// are left out: they move without a change.
    var essence: [JSON.Value?] {
        guard let object = state?.object else { return [] }
        let passing = ["decided_at", "valid_until", "fetched_at", "version"]
        return object.members.filter { !passing.contains($0.key) }.map(\.value)
            + [.bool(isCurrent)]
    }

    /// The line for people: time, service, state, reason.
    var line: String {
        let words =
            switch state {
            case nil: "is no longer configured"
            case .some(let state) where !isCurrent:
                "is out of date, it was \(state.summary); is killswitchd running?"
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
