import Glibc

/// Follows what a path leads to through every way in which that can change: the file written in
/// place, replaced by rename, deleted and made again, its folder too, any link on the way swapped.
///
/// Each folder on the way is watched for the entries that the path takes, and the file at the end for
/// being closed by a writer, so that one half written is not reported. It is edge-triggered and may
/// miss what no inotify tells of (a network file system): a slow poll belongs beside it.
package final class PathWatch {
    private let loop: EventLoop
    private let path: String
    private let handler: () -> Void
    private var chain: PathChain?
    private var watches: [Watch] = []
    private var settling: Deferred?
    private var isChainDoubtful = false

    /// Why the path cannot be watched, when it cannot; `rearm()` tries again.
    package private(set) var problem: LoopError?

    /// - Parameters:
    ///   - loop: Where it happens.
    ///   - path: An absolute path. Nothing needs to be there.
    ///   - handler: Called once after each burst of changes, and never from within this call.
    package init(_ loop: EventLoop, path: String, handler: @escaping () -> Void) {
        self.loop = loop
        self.path = path
        self.handler = handler
        do {
            settling = try Deferred(loop) { [unowned self] in settle() }
        } catch {
            problem = error
        }
        rearm()
    }

    /// Looks at the path again, and watches what it leads to now. Cheap where nothing changed.
    package func rearm() {
        // What is watched may change while it is being watched; a few rounds see it still.
        for _ in 0..<8 {
            let now = PathChain(path)
            guard now != chain || problem != nil || isChainDoubtful else { return }
            isChainDoubtful = false
            watch(now)
            if problem != nil { return }
        }
    }

    private func settle() {
        if isChainDoubtful { rearm() }
        handler()
    }

    private func watch(_ chain: PathChain) {
        self.chain = chain
        problem = nil
        watches = []
        for (folder, names) in chain.entries {
            add(folder, [.created, .movedTo, .movedFrom, .deleted, .onlyDirectory]) {
                changes, name in
                let isLost = !changes.isDisjoint(with: [.ignored, .overflow])
                return isLost || name.map(names.contains) ?? false
            }
        }
        if let file = chain.file {
            add(file, [.closedAfterWriting, .attributes]) { changes, _ in
                changes.contains(.overflow)
            }
        }
    }

    /// Watches one thing; `endsChain` says of an event whether the path may lead elsewhere now. An
    /// event in a folder that does not is somebody else's file.
    private func add(
        _ path: String, _ changes: Watch.Changes,
        _ endsChain: @escaping (Watch.Changes, String?) -> Bool
    ) {
        do {
            watches.append(
                try Watch(loop, path, changes) { [unowned self] changes, name in
                    if endsChain(changes, name) {
                        isChainDoubtful = true
                    } else if name != nil {
                        return
                    }
                    settling?.arm()
                })
        } catch {
            // What is gone already changes the chain: the next round sees that.
            if error.code != ENOENT { problem = error }
        }
    }
}
