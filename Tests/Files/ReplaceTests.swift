import Files
import Glibc
import Support
import Testing

struct ReplaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [Durability.programCrash, .powerLoss])
    func theNewContentTakesThePlaceOfTheOld(durability: Durability) throws {
        try File.replace(folder("state"), with: [1], surviving: durability)
        try File.replace(folder("state"), with: [2, 3], surviving: durability)
        #expect(try File.read(folder("state"), limit: 9) == [2, 3])
        #expect(try Directory.list(folder.path) == ["state"])
    }

    /// A reader that has the old file open still reads the old content.
    @Test func theNewContentIsAnotherFile() throws {
        try File.replace(folder("state"), with: [1])
        let reader = unsafe open(folder("state"), O_RDONLY)
        defer { close(reader) }
        try File.replace(folder("state"), with: [2])
        var byte: UInt8 = 0
        #expect(unsafe Glibc.read(reader, &byte, 1) == 1)
        #expect(byte == 1)
    }

    /// A program that is started under another umask: FileModeTests.
    @Test func theModeIsTheOneAskedFor() throws {
        try File.replace(folder("state"), with: [])
        try File.replace(folder("secret"), with: [], mode: 0o640)
        try File.touch(folder("marker"))
        try Directory.create(folder("a/b"), mode: 0o755)
        #expect(try File.attributes(of: folder("state")).mode == 0o644)
        #expect(try File.attributes(of: folder("secret")).mode == 0o640)
        #expect(try File.attributes(of: folder("marker")).mode == 0o644)
        #expect(try File.attributes(of: folder("a")).mode == 0o755)
        #expect(try File.attributes(of: folder("a/b")).mode == 0o755)
    }

    @Test func aTemporaryFileLeftByACrashIsReplaced() throws {
        try File.replace(folder(".state.tmp"), with: [9, 9, 9])
        try File.replace(folder("state"), with: [1])
        #expect(try File.read(folder("state"), limit: 9) == [1])
        #expect(try Directory.list(folder.path) == ["state"])
    }

    @Test func aLinkUnderTheTemporaryNameIsNotFollowed() throws {
        try File.replace(folder("victim"), with: [7])
        #expect(unsafe symlink(folder("victim"), folder(".state.tmp")) == 0)
        try File.replace(folder("state"), with: [1])
        #expect(try File.read(folder("victim"), limit: 9) == [7])
        #expect(try Directory.list(folder.path) == ["state", "victim"])
    }

    @Test(.timeLimit(.minutes(5))) func aFIFOUnderTheTemporaryNameIsNotWaitedFor() throws {
        #expect(unsafe mkfifo(folder(".state.tmp"), 0o644) == 0)
        try File.replace(folder("state"), with: [1])
        #expect(try File.read(folder("state"), limit: 9) == [1])
    }

    @Test func aLinkUnderTheNameItselfIsReplacedNotFollowed() throws {
        try File.replace(folder("victim"), with: [7])
        #expect(unsafe symlink(folder("victim"), folder("state")) == 0)
        try File.replace(folder("state"), with: [1])
        #expect(try File.read(folder("victim"), limit: 9) == [7])
        #expect(try File.attributes(of: folder("state"), followingLinks: false).kind == .regular)
    }

    @Test func aDirectoryUnderTheNameStaysAndNoTemporaryFileIsLeft() throws {
        try Directory.create(folder("state"))
        let error = #expect(throws: FileError.self) { try File.replace(folder("state"), with: [1]) }
        #expect(error?.code == EISDIR)
        #expect(try Directory.list(folder.path) == ["state"])
    }

    @Test func aMissingFolderIsNotFound() throws {
        let error = #expect(throws: FileError.self) {
            try File.replace(folder("gone/state"), with: [1])
        }
        #expect(error?.isNotFound == true)
    }

    @Test(.enabled(if: SmallFileSystem.isAvailable, "mounting a small file system takes root"))
    func aFullDiskLeavesTheOldContentAndNoTemporaryFile() throws {
        let disk = try SmallFileSystem(at: folder.path)
        try File.replace(folder("state"), with: [1])
        let error = #expect(throws: FileError.self) {
            try File.replace(folder("state"), with: [UInt8](repeating: 2, count: 1 << 20))
        }
        #expect(error?.description == "write '\(folder(".state.tmp"))': no space left on device")
        #expect(try File.read(folder("state"), limit: 9) == [1])
        #expect(try Directory.list(disk.path) == ["state"])
    }

    @Test(.enabled(if: SmallFileSystem.isAvailable, "mounting a small file system takes root"))
    func aReadOnlyFileSystemLeavesTheOldContent() throws {
        let disk = try SmallFileSystem(at: folder.path)
        try File.replace(folder("state"), with: [1])
        try disk.makeReadOnly()
        let error = #expect(throws: FileError.self) { try File.replace(folder("state"), with: [2]) }
        #expect(error?.code == EROFS)
        #expect(try File.read(folder("state"), limit: 9) == [1])
    }

    @Test(.disabled(if: getuid() == 0, "root writes to a directory of any mode"))
    func aReadOnlyDirectoryLeavesTheOldContent() throws {
        try File.replace(folder("state"), with: [1])
        #expect(unsafe chmod(folder.path, 0o555) == 0)
        defer { unsafe chmod(folder.path, 0o755) }
        let error = #expect(throws: FileError.self) { try File.replace(folder("state"), with: [2]) }
        #expect(error?.isPermissionDenied == true)
        #expect(try File.read(folder("state"), limit: 9) == [1])
    }
}

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

    func makeReadOnly() throws {
        let result = unsafe mount("tmpfs", path, "tmpfs", UInt(MS_RDONLY | MS_REMOUNT), nil)
        try #require(result == 0, "remount: errno \(errno)")
    }
}
