import Files
import Glibc
import Support
import Testing

/// The lock that keeps a second daemon out: who may take it, and who has it.
@Suite(.timeLimit(.minutes(5))) struct FileLockTests {
    private let folder: TemporaryFolder
    private var file: String { folder("daemon.lock") }

    init() throws { folder = try TemporaryFolder() }

    /// Another process that has the lock, and says so with `mark`.
    private func holder(_ mark: String = "fcntl.lockf(file, fcntl.LOCK_SH)") async throws -> Program
    {
        let program = try Program(
            "/usr/bin/python3",
            [
                "-c",
                """
                import fcntl, sys, time
                file = open(sys.argv[1])
                fcntl.flock(file, fcntl.LOCK_EX)
                \(mark)
                open("/proc/self/comm", "w").write("hold\\x1b\\x07er")
                print("held", flush=True)
                time.sleep(60)
                """, file,
            ])
        try await waitUntil("it holds the lock") { try program.output == "held\n" }
        return program
    }

    @Test func aSecondHolderIsToldWhoHasIt() async throws {
        try File.touch(file)
        let holder = try await holder()
        let error = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        // A program may give itself any name: none of it moves the cursor of a terminal.
        #expect(
            error?.description
                == "lock '\(file)': process \(holder.processID) (hold??er) holds it")
    }

    @Test func aHolderThatTheKernelDoesNotNameExcludesToo() async throws {
        try File.touch(file)
        let holder = try await holder("")
        let error = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        #expect(error?.description == "lock '\(file)': another process holds it")
        withExtendedLifetime(holder) {}
    }

    @Test func aSecondLockOfThisProcessIsExcludedToo() throws {
        let lock = try FileLock(in: folder.path)
        #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        withExtendedLifetime(lock) {}
    }

    /// The daemon took its own lock for that of another process when somebody had deleted other files beside it.
    @Test func itIsRenewedOnlyWhenItsFileIsGone() throws {
        let lock = try FileLock(in: folder.path)
        #expect(try lock.renewed(in: folder.path) === lock)
        try File.remove(file)
        let other = try lock.renewed(in: folder.path)
        #expect(other !== lock)
        #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        withExtendedLifetime(other) {}
    }

    /// A file that is open for writing keeps its file system from becoming read-only.
    @Test func theFileIsOpenForReadingAlone() throws {
        let lock = try FileLock(in: folder.path)
        let modes = try Directory.list("/proc/self/fd").compactMap { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            let path = target.prefix(max(count, 0)).map { UInt8(truncatingIfNeeded: $0) }
            guard String(decoding: path, as: UTF8.self) == file else { return Int32?.none }
            return fcntl(Int32(descriptor) ?? -1, F_GETFL) & O_ACCMODE
        }
        #expect(modes == [O_RDONLY])
        withExtendedLifetime(lock) {}
    }

    @Test func theLockIsFreeWhenItsHolderWasKilled() async throws {
        try File.touch(file)
        let holder = try await holder()
        holder.send(SIGKILL)
        _ = try holder.wait()
        _ = try FileLock(in: folder.path)
    }

    @Test func onlyItsOwnerMayOpenTheFile() throws {
        _ = try FileLock(in: folder.path)
        let made = try File.attributes(of: file)
        #expect(made.mode == 0o600 && made.size == 0)
        #expect(unsafe chmod(file, 0o666) == 0)
        _ = try FileLock(in: folder.path)
        #expect(try File.attributes(of: file).mode == 0o600)
    }

    @Test func aLinkInItsPlaceIsNotFollowed() throws {
        try folder.write("precious", to: "target")
        try SymbolicLink.replace(file, to: folder("target"))
        let error = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        #expect(error?.code == ELOOP)
        #expect(try folder.text(of: "target") == "precious")
    }

    @Test func anotherKindOfFileInItsPlaceIsAnErrorAndNotWaitedFor() throws {
        #expect(unsafe mkfifo(file, 0o600) == 0)
        let error = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        #expect(error?.description == "lock '\(file)': not a regular file")
        try File.remove(file)
        try Directory.create(file)
        let second = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        #expect(second?.code == EISDIR)
    }

    @Test func aMissingDirectoryCannotBeLocked() {
        let error = #expect(throws: FileError.self) { try FileLock(in: "/nowhere") }
        #expect(error?.isNotFound == true)
    }

    /// Somebody else's file may be open, and locked, in a process of theirs.
    @Test(.enabled(if: geteuid() == 0, "needs root")) func aFileOfAnotherUserIsRefused() throws {
        try File.touch(file)
        #expect(unsafe chown(file, 65534, 65534) == 0)
        let error = #expect(throws: FileError.self) { try FileLock(in: folder.path) }
        #expect(error?.description == "lock '\(file)': it belongs to user 65534")
    }

    /// Root tries the daemon by hand; the daemon that runs as the directory's user has to start afterwards.
    @Test(.enabled(if: geteuid() == 0, "needs root")) func rootLeavesTheFileToTheDirectorysOwner()
        throws
    {
        #expect(unsafe chown(folder.path, 65534, 65534) == 0)
        _ = try FileLock(in: folder.path)
        #expect(try File.attributes(of: file).owner == 65534)
        _ = try FileLock(in: folder.path)
    }
}
