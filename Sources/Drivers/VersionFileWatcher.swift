import CivilTime
import Decision
import EventLoop
import Files
import Storage

/// The files with the installed versions of services: read at the start and at every change. A
/// missing or empty file, as in the middle of an upgrade, posts no event.
final class VersionFileWatcher {
    private let loop: EventLoop
    private let post: (Event) -> Void
    private var watches: [ServiceName: (path: String, watch: PathWatch)] = [:]
    /// Has those read whose changes the kernel does not report.
    private var poll: Timer?
    private var isPollSet = false

    /// Follows no file yet; `post` gets the events `installed`.
    init(_ loop: EventLoop, post: @escaping (Event) -> Void) {
        self.loop = loop
        self.post = post
    }

    /// Follows the files of these services in the place of those before.
    func watch(_ services: [Service]) {
        let before = watches
        watches = [:]
        for service in services {
            guard case .file(let path) = service.installed else { continue }
            let name = service.name
            if let known = before[name], known.path == path {
                watches[name] = known
            } else {
                let watch = PathWatch(loop, path: path) { [unowned self] in
                    read(path, of: name)
                    setPoll()
                }
                watches[name] = (path, watch)
            }
            read(path, of: name)
        }
        setPoll()
    }

    private func setPoll() {
        guard !isPollSet, watches.values.contains(where: { $0.watch.problem != nil })
        else { return }
        if poll == nil {
            poll = readable {
                try Timer(loop, accuracy: .seconds(1)) { [unowned self] in readUnwatched() }
            }
        }
        poll?.set(at: loop.now.boot + .seconds(10))
        isPollSet = poll != nil
    }

    private func readUnwatched() {
        isPollSet = false
        for (name, file) in watches where file.watch.problem != nil {
            file.watch.rearm()
            read(file.path, of: name)
        }
        setPoll()
    }

    private func read(_ path: String, of service: ServiceName) {
        do {
            guard let version = try VersionFile.version(in: path) else { return }
            post(.versionInstalled(service, version))
        } catch {
            // A notice tells that the version is unknown, as soon as flags require one.
        }
    }
}
