import Decision
import EventLoop
import Storage

/// The files with the installed versions of services: read at the start and at every change. A
/// missing or empty file, as in the middle of an upgrade, posts no event.
final class VersionFileWatcher {
    private let loop: EventLoop
    private let post: (Event) -> Void
    private var watches: [ServiceName: (path: String, watch: PathWatch)] = [:]

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
                let watch = PathWatch(loop, path: path) { [unowned self] in read(path, of: name) }
                watches[name] = (path, watch)
            }
            read(path, of: name)
        }
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
