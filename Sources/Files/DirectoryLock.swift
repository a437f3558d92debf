import Glibc

/// An exclusive lock on a directory, held for as long as this object lives.
///
/// `flock(2)` on the directory's own descriptor: there is no lock file to be left behind, and the
/// kernel lets go when the process ends in whatever way. It keeps out only those who ask for the
/// lock too.
package final class DirectoryLock {
    /// The lock is this descriptor's: it goes when the descriptor is closed.
    private let directory: OpenFile

    /// Takes the lock without waiting; its error's cause is `.lockedByAnother` where somebody has it.
    package init(_ path: String) throws(FileError) {
        directory = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        do {
            try unsafe system("lock", path) { [descriptor = directory.descriptor] _ in
                flock(descriptor, LOCK_EX | LOCK_NB)
            }
        } catch  where error.code == EWOULDBLOCK {
            throw FileError("lock", path, .lockedByAnother)
        }
    }
}
