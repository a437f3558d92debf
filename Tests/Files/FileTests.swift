import Files
import Glibc
import Support
import Testing

struct FileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func removingIsDoneAlsoWhenThereIsNothingToRemove() throws {
        try File.touch(folder("marker"))
        try File.remove(folder("marker"))
        try File.remove(folder("marker"))
        #expect(try !File.exists(folder("marker")))
    }

    @Test func renamingTakesTheOtherName() throws {
        try File.touch(folder("open"))
        try File.rename(folder("open"), to: folder("closed"))
        #expect(try Directory.list(folder.path) == ["closed"])
        let error = #expect(throws: FileError.self) {
            try File.rename(folder("open"), to: folder("closed"))
        }
        #expect(error?.isNotFound == true)
    }

    @Test func touchingMovesTheModificationTimeAndKeepsTheContent() throws {
        try File.replace(folder("source"), with: [1])
        let longAgo = [
            timespec(tv_sec: 1_000, tv_nsec: 2_000), timespec(tv_sec: 1_000, tv_nsec: 2_000),
        ]
        #expect(unsafe utimensat(AT_FDCWD, folder("source"), longAgo, 0) == 0)
        #expect(try File.modificationTime(of: folder("source")) == 1_000_000_002)
        try File.touch(folder("source"))
        #expect(try File.modificationTime(of: folder("source")) > 1_700_000_000_000_000)
        #expect(try File.read(folder("source"), limit: 1) == [1])
    }

    @Test func touchingMakesAnEmptyFile() throws {
        try File.touch(folder("source"))
        #expect(try File.attributes(of: folder("source")).size == 0)
    }

    @Test func aLinkThatLeadsNowhereDoesNotExist() throws {
        #expect(unsafe symlink("nowhere", folder("link")) == 0)
        #expect(try !File.exists(folder("link")))
        #expect(
            try File.attributes(of: folder("link"), followingLinks: false).kind == .symbolicLink)
    }

    @Test func anExistenceThatCannotBeDeterminedIsAnError() throws {
        #expect(unsafe symlink("loop", folder("loop")) == 0)
        let error = #expect(throws: FileError.self) { try File.exists(folder("loop")) }
        #expect(error?.code == ELOOP)
    }

    @Test func nothingThatWasOpenedIsLeftOpen() throws {
        let before = try openDescriptors(under: folder.path)
        for _ in 0..<100 {
            try File.replace(folder("state"), with: [1], surviving: .powerLoss)
            _ = try File.read(folder("state"), limit: 9)
            _ = try Directory.list(folder.path)
            _ = try FileLock(in: folder.path)
        }
        #expect(try openDescriptors(under: folder.path) == before)
    }

    private func openDescriptors(under folder: String) throws -> Int {
        try Directory.list("/proc/self/fd").count { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            let path = target.prefix(max(count, 0)).map { UInt8(truncatingIfNeeded: $0) }
            return String(decoding: path, as: UTF8.self).hasPrefix(folder)
        }
    }
}

struct DirectoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: ["a", "a/b/c", "a/b/c/", "a//b"])
    func creatingMakesWhatIsMissing(name: String) throws {
        try Directory.create(folder(name))
        try Directory.create(folder(name))
        #expect(try File.attributes(of: folder(name)).kind == .directory)
    }

    @Test func aDirectoryThatIsThereKeepsItsMode() throws {
        try Directory.create(folder("a"), mode: 0o700)
        try Directory.create(folder("a/b"), mode: 0o755)
        #expect(try File.attributes(of: folder("a")).mode == 0o700)
    }

    @Test func aFileInTheWayIsAnError() throws {
        try File.touch(folder("a"))
        #expect(throws: FileError("create", folder("a"), .system(EEXIST))) {
            try Directory.create(folder("a"))
        }
        #expect(throws: FileError("create", folder("a/b"), .system(ENOTDIR))) {
            try Directory.create(folder("a/b"))
        }
    }

    /// procfs answers "no such file" to a `mkdir` in an existing directory: a retry with the parents would never end.
    @Test func aFileSystemThatMakesNoDirectoriesIsAnError() {
        let error = #expect(throws: FileError.self) { try Directory.create("/proc/killswitch/x") }
        #expect(error?.isNotFound == true)
    }

    @Test func removingIsDoneAlsoWhenThereIsNothingToRemove() throws {
        try Directory.create(folder("a"))
        try Directory.remove(folder("a"))
        try Directory.remove(folder("a"))
        #expect(try !File.exists(folder("a")))
    }

    @Test func aDirectoryWithSomethingInItStays() throws {
        try Directory.create(folder("a/b"))
        let error = #expect(throws: FileError.self) { try Directory.remove(folder("a")) }
        #expect(error?.code == ENOTEMPTY)
    }

    @Test func theNamesComeInTheOrderOfTheirBytes() throws {
        for name in ["b", "é", "10-x", "9-x", ".hidden", "B"] { try File.touch(folder(name)) }
        #expect(try Directory.list(folder.path) == [".hidden", "10-x", "9-x", "B", "b", "é"])
    }

    @Test func aFileCannotBeListed() throws {
        try File.touch(folder("a"))
        let error = #expect(throws: FileError.self) { try Directory.list(folder("a")) }
        #expect(error?.description == "list '\(folder("a"))': not a directory")
    }
}
