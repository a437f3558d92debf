import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import POSIX
import Storage

/// The one way in which commands wait: they check the daemon's files at once, and again when those may have changed,
/// until a check has a result.
///
/// A change of a file only says when to check (inotify(7)); each check reads the files anew. Where the kernel has no
/// watch left, it checks each second.
final class PublishedStream {
    private let published: PublishedFiles
    private let loop: EventLoop
    /// The services that were named; nil for each that has files, also later.
    private let named: [ServiceName]?
    /// The files of a service that are followed.
    private let names: [String]
    private var files: [ServiceName: [PathWatch]] = [:]
    private var others: [PathWatch] = []
    /// Fires when an entry of the directory comes or goes; nil while there is no directory.
    private var entries: Watch?
    private var validity: WallTimer?
    /// How often something came that a check has to see.
    private var wakes = 0
    /// Until when the states count that were seen in this check, and when the check wants another.
    private var validUntil: Instant?
    private var nextCheck: Boottime?
    private var began: Boottime

    /// Everything that a daemon says of a service.
    static let allFiles =
        [FileName.state, FileName.gate, FileName.units, FileName.observed]
        + Gate.allCases.map(\.rawValue)

    /// Follows these services, or all.
    init(
        of named: [ServiceName]?, _ names: [String] = allFiles, in published: PublishedFiles,
        on loop: EventLoop
    ) throws(SystemError) {
        (self.published, self.loop, self.named, self.names) = (published, loop, named, names)
        began = loop.now.boot
        validity = try WallTimer(loop) { [unowned self] _ in wake() }
        others = [watch(FileName.alive)]
        follow(named ?? [])
        guard named == nil else { return }
        // The directory may not be there yet.
        others.append(
            PathWatch(loop, path: published.directory) { [unowned self] in
                watchEntries()
                wake()
            })
        watchEntries()
    }

    /// How long the present wait lasts.
    var elapsed: Duration { loop.now.boot - began }

    /// Has the wait check again: for what is no file.
    func wake() { wakes += 1 }

    /// Has the wait check again after this time, also without a change.
    func checkAgain(after time: Duration) {
        let moment = loop.now.boot + time
        nextCheck = min(nextCheck ?? moment, moment)
    }

    /// The followed services, whether they have files or not.
    func services() throws -> [ServiceName] {
        if let named { return named }
        let entries = try File.ifThere(Directory.list(published.directory)) ?? []
        let services = entries.compactMap(FileName.service)
        follow(services)
        return services
    }

    /// The state of a service, and whether it counts now; nil without one. It is checked again when it no longer
    /// counts.
    func state(
        of service: ServiceName
    ) throws(UnreadableState) -> (state: PublishedState, isCurrent: Bool)? {
        guard let state = try published.state(of: service) else { return nil }
        let now = loop.now.wall
        let end = published.end(of: state, at: now)
        guard now <= end else { return (state, false) }
        let over = end + .milliseconds(1)
        validUntil = min(validUntil ?? over, over)
        return (state, true)
    }

    /// A service without files was checked. Has the wait check again while a daemon that starts may still write them;
    /// throws after that, or after `limit`, if other services have some: most likely a typing error.
    func expectFiles(of service: ServiceName, limit: Duration? = nil) throws {
        // A daemon that starts writes one service after the other; with 10,000 of them in about two seconds.
        let rest = min(limit ?? .seconds(2), .seconds(2)) - elapsed
        if rest > .zero { return checkAgain(after: rest) }
        let known = try published.servicesIfAny()
        guard known.isEmpty || known.contains(service) else {
            throw published.unknown(service, among: known)
        }
    }

    /// Waits until `check` returns something. Returns nil if it has not after `limit`. On a terminal `progress` says
    /// after a second, and then each second, what is waited for.
    func until<Seen>(
        _ limit: Duration?, progress: (() -> String?)? = nil, _ check: () throws -> Seen?
    ) throws -> Seen? {
        // A check may wait for something itself.
        let outer = (began, validUntil, nextCheck)
        began = loop.now.boot
        var isShown = false
        defer {
            (began, validUntil, nextCheck) = outer
            if isShown { Terminal.showProgress(nil) }
        }
        while true {
            let seen = wakes
            (validUntil, nextCheck) = (nil, limit.map { began + $0 })
            if let result = try check() { return result }
            if let limit, elapsed >= limit { return nil }
            if let progress, Terminal.showsProgress {
                if elapsed >= .seconds(1) {
                    Terminal.showProgress(progress())
                    isShown = true
                }
                checkAgain(after: .seconds(1))
            }
            // inotify tells nothing of a mount.
            checkAgain(after: areWatched ? .seconds(3600) : .seconds(1))
            validity?.set(at: validUntil)
            while wakes == seen, let nextCheck, nextCheck > loop.now.boot {
                try loop.runOnce(nextCheck - loop.now.boot)
            }
        }
    }

    /// Waits until `check` returns something, however long that takes.
    func until<Seen>(_ check: () throws -> Seen?) throws -> Seen {
        while true { if let seen = try until(.seconds(86_400), check) { return seen } }
    }

    private var areWatched: Bool {
        others.allSatisfy { $0.problem == nil }
            && files.values.allSatisfy { $0.allSatisfy { $0.problem == nil } }
    }

    private func follow(_ services: [ServiceName]) {
        for service in services where files[service] == nil {
            files[service] = names.map { watch("\(service)/\($0)") }
        }
    }

    private func watch(_ name: String) -> PathWatch {
        PathWatch(loop, path: "\(published.directory)/\(name)") { [unowned self] in wake() }
    }

    private func watchEntries() {
        let mask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR
        entries = readable {
            try Watch(loop, published.directory, mask) { [unowned self] _ in wake() }
        }
    }
}
