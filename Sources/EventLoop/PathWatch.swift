import CSystemd
import Glibc
package import POSIX

/// Calls its handler when the file that a path leads to may have changed: it was written in place,
/// replaced, removed or made again, or the same happened to a directory above it, or a link on the
/// way leads elsewhere now, as Kubernetes does with the `..data` of a mounted ConfigMap.
///
/// Each directory on the way is watched for its name on the path, and the file at the end for its content. After a
/// burst of events the path is resolved again, and then the handler is called: the watches cover the file before the
/// handler reads it.
///
/// The handler is called at least once after the last change, and now and then without a change. A
/// file that is written in place is reported when the writer closes it. A file that is made anew
/// without `rename(2)` may be reported before it is complete, and is reported again when it is.
///
/// inotify reports neither changes that other hosts make on a network file system, nor a mount over
/// a directory. For those a slow poll has to read the file and call `rearm()`.
package final class PathWatch {
    package let path: String

    /// Why changes may go unreported; nil if none do. The host's limit of watches is reached, or
    /// a directory may not be read. A path that leads nowhere is no problem: it is watched.
    package private(set) var problem: SystemError?

    private let loop: EventLoop
    private let handler: () -> Void
    private var watches: [Watch] = []
    private var change: Deferred?

    /// Watches the path before this returns: no change is missed after the file was read then. The
    /// handler is not called for the start. The path has to be absolute; any other is a `problem`.
    package init(_ loop: EventLoop, path: String, handler: @escaping () -> Void) {
        self.loop = loop
        self.path = path
        self.handler = handler
        // The file is watched before the handler reads it.
        change = Deferred(loop) { [weak self] in
            self?.rearm()
            self?.handler()
        }
        rearm()
    }

    /// Resolves the path again and watches the file that it leads to now; clears `problem`, or sets
    /// it again. Does not call the handler.
    package func rearm() {
        guard path.utf8.first == UInt8(ascii: "/") else {
            problem = SystemError("watch '\(path)'", code: EINVAL)
            return
        }
        problem = nil
        // The old watches go last, so that the kernel keeps those that are still needed.
        watches = resolve()
    }

    /// Watches each step of the path before it looks at it: a look sees changes from before it, the
    /// watch reports those after it, and none is missed in between.
    private func resolve() -> [Watch] {
        var watches: [Watch] = []
        var walk = PathWalk(path)
        while let (name, path) = walk.next() {
            watches += watch(walk.directory, Self.names, for: name)
            do throws(SystemError) {
                switch try PathEntry(at: path) {
                case .nothing: return watches
                case .directory: walk.enter(path)
                case .link(let target):
                    guard walk.follow(target) else { return watches }
                case .file: return walk.isAtEnd ? watches + watch(path, Self.content) : watches
                }
            } catch {
                problem = problem ?? error
                return watches
            }
        }
        return watches
    }

    /// A watch, or nil with `problem` set. A path that is not found has gone since it was looked
    /// at; the watch on the step before it has that event in its queue.
    private func watch(_ path: String, _ mask: Int32, for name: String? = nil) -> [Watch] {
        do {
            let watch = try Watch(loop, path, mask) { [weak self] event in
                if event.concerns(name) { self?.change?.arm() }
            }
            return [watch]
        } catch {
            if !error.isNotFound { problem = problem ?? error }
            return []
        }
    }

    /// Another file has a name in a directory now, or none.
    private static let names =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW

    /// The content of a file, or who may read it, has changed.
    private static let content =
        IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW
}

extension Watch.Event {
    /// Whether it is about this name in the watched directory, or about the watched inode itself.
    fileprivate func concerns(_ name: String?) -> Bool {
        guard let name, let happenedTo = self.name else { return true }
        return happenedTo.utf8.elementsEqual(name.utf8)
    }
}
