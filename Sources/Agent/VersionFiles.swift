import Decision
import EventLoop
import Records

/// The files that tell which version of a service is installed: read at the start and whenever they
/// change. One that is missing or empty says nothing, as in the middle of an upgrade.
final class VersionFiles {
    private let loop: EventLoop
    private let post: (Event) -> Void
    private var watches: [ServiceName: (path: String, watch: PathWatch)] = [:]

    init(_ loop: EventLoop, post: @escaping (Event) -> Void) {
        self.loop = loop
        self.post = post
    }

    /// Follows the files of these services, and those alone.
    func follow(_ services: [Service]) {
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
            post(.installed(service, version))
        } catch {
            // The flags that ask for a version say that none is known.
            return
        }
    }
}
