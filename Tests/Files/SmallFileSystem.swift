import Glibc
import Support
import Testing

/// A small tmpfs over a folder, to fill or to make read-only. Only root may mount it.
struct SmallFileSystem: ~Copyable {
    let path: String

    /// Whether a file system can be mounted here: not for other users, nor in most containers.
    static let isAvailable: Bool = {
        do {
            let folder = try TemporaryFolder()
            _ = try SmallFileSystem(at: folder.path)
            return true
        } catch {
            return false
        }
    }()

    init(at path: String) throws {
        self.path = path
        let result = unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k")
        try #require(result == 0, "mount: errno \(errno)")
    }

    deinit { unsafe umount2(path, Int32(MNT_DETACH)) }

    /// Makes the file system read-only.
    func makeReadOnly() throws {
        let result = unsafe mount(
            "tmpfs", path, "tmpfs", UInt(MS_RDONLY | MS_REMOUNT), nil)
        try #require(result == 0, "remount: errno \(errno)")
    }
}
