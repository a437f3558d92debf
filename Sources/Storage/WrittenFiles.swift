import Files

/// The files that should be in a directory: this process has written or read them, and has not removed them since.
///
/// What was not written, because a disk is full, is not among them, and neither is what was removed because it is not
/// true any more. So a file that is missing was deleted by somebody else.
final class WrittenFiles {
    private var paths: Set<String> = []
    /// The folders that say open although their services are closed, because no file in them can be changed.
    var misleading: Set<String> = []

    func contains(_ path: String) -> Bool { paths.contains(path) }

    func insert(_ path: String) { paths.insert(path) }

    func remove(_ path: String) { paths.remove(path) }

    /// Those that are not there. A stat for each file; one that cannot be looked at does not count.
    func missing() -> Set<String> {
        paths.filter { path in readable { try File.exists(path) } == false }
    }
}
