import Glibc

/// Tells when what a path leads to may have changed, in whatever way: the file written in place,
/// replaced, removed, made again; a directory above it likewise; or a link on the way led elsewhere,
/// as Kubernetes does with the `..data` of a mounted ConfigMap.
///
/// Every directory on the way is watched for the one name that matters in it, and the file at the
/// end for its content. After an event that touches the path all of that is thrown away and made
/// anew, from the loop, and then the handler is called: so a burst is one call, a handler that reads
/// the file reads what is watched already, and no stream of changes, however fast, keeps it from
/// being called.
///
/// The handler may be called without need, seldom, and is called at least once after the last
/// change. A file that is written in place is told of when the writer closes it; one that is made
/// anew without `rename(2)` may be told of before it is complete, and is told of again then.
///
/// inotify does not see what other hosts do on a network file system, nor a mount over a directory:
/// a slow poll beside this, which reads the file and calls `rearm()`, does.
package final class PathWatch {
    package let path: String

    /// Why there may be changes that are not told of, if so: the host's limit of watches is reached,
    /// or a directory may not be read. A path that leads nowhere is no problem, but watched.
    package private(set) var problem: LoopError?

    private let loop: EventLoop
    private let handler: () -> Void
    private var watches: [Watch] = []
    /// Nil only if it could not be made, which is a problem, and tried again like any other.
    private var change: Deferred?

    /// Watches from here on: what is read after this returns, and every change from then, is covered.
    /// The handler is not called for the start. The path is absolute; any other is a problem.
    package init(_ loop: EventLoop, path: String, handler: @escaping () -> Void) {
        self.loop = loop
        self.path = path
        self.handler = handler
        rearm()
    }

    /// Resolves the path again and watches what it leads to now; clears the problem, or finds it
    /// again. Does not call the handler.
    package func rearm() {
        problem = nil
        do throws(LoopError) {
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw LoopError("watch '\(path)'", code: EINVAL)
            }
            if change == nil {
                change = Deferred(loop) { [weak self] in self?.settle() }
            }
            // The old watches go last, so that the kernel keeps those that are still needed.
            watches = resolve()
        } catch {
            problem = error
        }
    }

    /// First watched, then told of: the handler reads what is watched already.
    private func settle() {
        rearm()
        handler()
    }

    /// Watches each step before it looks what is there: a change before that is seen by the look,
    /// one after it by the watch, and none falls between.
    private func resolve() -> [Watch] {
        var watches: [Watch] = []
        var walk = PathWalk(path)
        while let step = walk.next() {
            watches += watch(step.directory, .names, for: step.name)
            switch look(at: step.path) {
            case .nothing:
                return watches
            case .directory:
                walk.enter(step)
            case .link(let target):
                guard walk.follow(target) else { return watches }
            case .file:
                return walk.isAtEnd ? watches + watch(step.path, .content) : watches
            }
        }
        return watches
    }

    /// One watch, or none and the problem. One that is not found has gone since it was looked at,
    /// and the watch on the step before it has that event in its queue.
    private func watch(_ path: String, _ mask: Watch.Mask, for name: String? = nil) -> [Watch] {
        do {
            let watch = try Watch(loop, path, mask) { [weak self] event in
                if event.concerns(name) { self?.changed() }
            }
            return [watch]
        } catch {
            if !error.isNotFound { problem = problem ?? error }
            return []
        }
    }

    private func look(at path: String) -> PathEntry {
        do {
            return try PathEntry(at: path)
        } catch {
            problem = problem ?? error
            return .nothing
        }
    }

    /// What else was queued for these watches goes with them. Not the first, on the root directory:
    /// with its last watch sd-event closes inotify itself, and the kernel takes milliseconds for that.
    private func changed() {
        watches.removeLast(max(watches.count - 1, 0))
        change?.arm()
    }
}

extension Watch.Mask {
    /// A name in a directory comes to mean something else.
    fileprivate static let names: Self = [
        .create, .delete, .movedFrom, .movedTo, .onlyDirectory, .dontFollow,
    ]

    /// What a file holds, or whether it may be read, has changed.
    fileprivate static let content: Self = [
        .closeWrite, .attrib, .moveSelf, .deleteSelf, .dontFollow,
    ]
}

extension Watch.Event {
    /// Whether it is about this name in the watched directory, or about what is watched as a whole.
    fileprivate func concerns(_ name: String?) -> Bool {
        guard let name, let happenedTo = self.name else { return true }
        return happenedTo.utf8.elementsEqual(name.utf8)
    }
}
