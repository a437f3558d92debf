import Files
import Glibc
import Support
import Testing

struct ReadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func theWholeContentComesBack() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try File.replace(folder("flags"), with: bytes)
        #expect(try File.read(folder("flags"), limit: 100_000) == bytes)
    }

    /// A flags file on `tmpfs` with such a time once crashed the daemon at each read.
    @Test(arguments: [
        (Int(1) << 60, Int64.max), (-(Int(1) << 60), .min), (1, 1_000_000),
        (9_223_372_036_854, 9_223_372_036_854_000_000), (9_223_372_036_855, .max),
    ])
    func aFileOfAnyTimeCanBeRead(_ seconds: Int, _ microseconds: Int64) throws {
        // Other file systems clamp such times.
        let path = "/dev/shm/killswitchd-test.\(getpid()).\(seconds)"
        try File.replace(path, with: [1])
        defer { unsafe unlink(path) }
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(try File.read(path, limit: 10) == [1])
        #expect(try File.modificationTime(of: path) == microseconds)
    }

    @Test func oneByteOverTheLimitIsAnErrorThatNamesTheLimit() throws {
        try File.replace(folder("flags"), with: [1, 2, 3])
        let error = try #require(throws: FileError.self) {
            try File.read(folder("flags"), limit: 2)
        }
        #expect(error.cause == .largerThan(2))
        #expect(error.description == "read '\(folder("flags"))': larger than 2 bytes")
    }

    /// Files of procfs have the size 0, so that only reading finds their length.
    @Test func aFileThatHidesItsSizeIsHeldToTheLimitToo() throws {
        #expect(try File.attributes(of: "/proc/self/status").size == 0)
        #expect(try !File.read("/proc/self/status", limit: 1 << 20).isEmpty)
        #expect(throws: FileError("read", "/proc/self/status", .largerThan(10))) {
            try File.read("/proc/self/status", limit: 10)
        }
    }

    @Test func anEmptyFileIsNoBytes() throws {
        try File.touch(folder("empty"))
        #expect(try File.read(folder("empty"), limit: 0) == [])
    }

    @Test(.timeLimit(.minutes(5))) func aFIFOIsRefusedWithoutWaitingForAWriter() throws {
        #expect(unsafe mkfifo(folder("fifo"), 0o644) == 0)
        #expect(throws: FileError("read", folder("fifo"), .notRegularFile)) {
            try File.read(folder("fifo"), limit: 10)
        }
    }

    @Test func aDeviceIsRefused() {
        #expect(throws: FileError("read", "/dev/zero", .notRegularFile)) {
            try File.read("/dev/zero", limit: 10)
        }
    }

    @Test func aSocketIsRefused() throws {
        #expect(unsafe mknod(folder("socket"), S_IFSOCK | 0o644, 0) == 0)
        #expect(throws: FileError("read", folder("socket"), .notRegularFile)) {
            try File.read(folder("socket"), limit: 10)
        }
    }

    @Test func aDirectoryIsRefusedInTheWordsOfTheKernel() {
        let error = #expect(throws: FileError.self) { try File.read("/etc", limit: 10) }
        #expect(error?.code == EISDIR)
        #expect(error?.description == "read '/etc': is a directory")
    }

    @Test func aMissingFileIsNotFound() {
        let error = #expect(throws: FileError.self) { try File.read("/nowhere/flags", limit: 10) }
        #expect(error?.isNotFound == true)
        #expect(error?.description == "open '/nowhere/flags': no such file or directory")
    }

    /// C would take the path for `/etc/passwd`.
    @Test func aPathWithANULIsRefused() {
        let error = #expect(throws: FileError.self) {
            try File.read("/etc/passwd\0.json", limit: 1 << 20)
        }
        #expect(error?.code == EINVAL)
    }

    @Test func theAttributesAreThoseOfTheFileThatWasRead() throws {
        try File.replace(folder("secret"), with: [7, 7], mode: 0o600)
        let (bytes, attributes) = try File.readWithAttributes(folder("secret"), limit: 2)
        #expect(bytes == [7, 7])
        #expect(attributes.kind == .regular)
        #expect(attributes.mode == 0o600)
        #expect(attributes.owner == getuid())
        #expect(attributes.size == 2)
        #expect(try attributes.modificationTime == File.modificationTime(of: folder("secret")))
    }

    @Test func theBootHasOneIdentifier() throws {
        let id = try bootID()
        #expect(id.utf8.count == 36)
        #expect(try bootID() == id)
    }
}

/// When a stamp shows that a file is the one that was read, and when it shows nothing.
@Suite struct FileStampTests {
    /// Files `a` and `b` of the same size and time of modification, and the link `link` to `a`.
    private func twins() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["a", "b"] {
            try folder.write("\(name)\n", to: name)
            try touch(folder(name))
        }
        try folder.link("a", as: "link")
        return folder
    }

    /// Sets the time of modification to one of long ago.
    private func touch(_ path: String) throws {
        let result = try Program.run("/usr/bin/touch", ["-d", "@1", path])
        #expect(result.status == 0, "\(result.errors)")
    }

    private func rested(_ path: String) async throws -> FileStamp {
        try await Support.waitUntil("'\(path)' has rested") {
            FileStamp(of: path).shows(unchangedSince: FileStamp(of: path))
        }
        return FileStamp(of: path)
    }

    @Test func aFileThatStaysIsTheSame() async throws {
        let folder = try twins()
        let stamp = try await rested(folder("link"))
        #expect(FileStamp(of: folder("link")).shows(unchangedSince: stamp))
        #expect(FileStamp(of: folder("a")).shows(unchangedSince: stamp))
    }

    /// As `rsync -t`, ostree and Nix replace a file: by one of the same size and time.
    @Test func anotherFileOfTheSameSizeAndTimeIsAnother() async throws {
        let folder = try twins()
        let stamp = try await rested(folder("link"))
        try folder.link("b", as: "other")
        try File.rename(folder("other"), to: folder("link"))
        #expect(!FileStamp(of: folder("link")).shows(unchangedSince: stamp))
        try File.rename(folder("b"), to: folder("a"))
        #expect(!FileStamp(of: folder("a")).shows(unchangedSince: stamp))
    }

    @Test func aFileThatIsWrittenInPlaceIsChanged() async throws {
        let folder = try twins()
        let stamp = try await rested(folder("a"))
        _ = try Program.run("/bin/sh", ["-c", "echo c > '\(folder("a"))'"])
        try touch(folder("a"))
        #expect(!FileStamp(of: folder("a")).shows(unchangedSince: stamp))
    }

    /// A second change within a tick of the clock would leave every time as it is.
    @Test func aFileThatWasJustChangedShowsNothing() throws {
        let folder = try twins()
        let stamp = FileStamp(of: folder("a"))
        #expect(!FileStamp(of: folder("a")).shows(unchangedSince: stamp))
    }

    @Test func aFileThatIsNotThereShowsNothing() throws {
        let stamp = FileStamp(of: "/nonexistent/file")
        #expect(!FileStamp(of: "/nonexistent/file").shows(unchangedSince: stamp))
    }
}
