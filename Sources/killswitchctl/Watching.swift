import CivilTime
import Decision
import EventLoop
import Files
import JSON
import Records

/// Follows the state files of services, and tells of each change.
final class Watching {
    private let named: [ServiceName]
    private let published: Published
    private let loop: EventLoop
    private let zone: Zone
    private let tell: (Change) -> Void
    /// Tells when the directory itself comes and goes, and when something in it does.
    private var directory: PathWatch?
    private var entries: Watch?
    private var files: [ServiceName: PathWatch] = [:]
    private var validity: WallTimer?
    private var told: [ServiceName: [JSON.Value?]] = [:]
    /// The states that could not be read when they were looked at last.
    private var unreadable: [ServiceName: UnreadableState] = [:]
    private var problem: CommandFailure?

    /// Of those that are named, or of all that there are or will be.
    init(
        _ named: [ServiceName], in published: Published, tell: @escaping (Change) -> Void
    ) throws {
        self.named = named
        self.published = published
        self.tell = tell
        loop = try EventLoop()
        zone = try ZoneFiles.system()
    }

    /// Goes on until something fails.
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

    /// Tells of a service if it has changed; gives when it will be out of date.
    private func look(at service: ServiceName) -> Instant? {
        let state: PublishedState?
        do {
            state = try published.state(of: service)
            unreadable[service] = nil
        } catch {
            // It hides no other, and is no change that anybody could name.
            if unreadable[service] != error { printError("killswitchctl: \(error)") }
            unreadable[service] = error
            return nil
        }
        guard state != nil || told[service] != nil else { return nil }
        let now = loop.now.wall
        let change = Change(
            service: service, state: state, isCurrent: state?.isCurrent(at: now) ?? true,
            time: now, zone: zone)
        if told[service] != change.essence { tell(change) }
        told[service] = state == nil ? nil : change.essence
        guard let until = state?.validUntil, until >= now else { return nil }
        return until + .milliseconds(1)
    }

    /// The folders that may hold a state, or are to hold one.
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
            // It is not there yet; `directory` tells when it is.
            entries = nil
        }
    }

    private func follow(_ service: ServiceName) {
        let file = "\(published.directory)/\(service)/\(FileName.state)"
        files[service] = PathWatch(loop, path: file) { [unowned self] in look() }
    }
}
