import Files
import Glibc
import Testing

/// A folder of a test's own, which goes with everything in it when the test is over.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/files-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template)
        path = unsafe String(cString: try #require(unsafe made))
    }

    deinit {
        do { try Self.empty(path) } catch { Issue.record(error) }
    }

    /// The path of a name in it.
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    private static func empty(_ folder: String) throws(FileError) {
        for name in try Directory.list(folder) {
            let path = "\(folder)/\(name)"
            switch try File.attributes(of: path, followingLinks: false).kind {
            case .directory: try empty(path)
            case .regular, .symbolicLink, .special: try File.remove(path)
            }
        }
        try Directory.remove(folder)
    }
}

/// A tmpfs over a folder, for what a healthy disk does not do. Only root may mount it.
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

    /// Lets nothing be written from here on.
    func makeReadOnly() throws {
        let result = unsafe mount(
            "tmpfs", path, "tmpfs", UInt(MS_RDONLY | MS_REMOUNT), nil)
        try #require(result == 0, "remount: errno \(errno)")
    }
}
