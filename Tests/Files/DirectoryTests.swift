import Files
import Glibc
import Support
import Testing

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

    /// procfs answers "no such file" to a `mkdir` in an existing directory: a retry with the parents would
    /// never end.
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
