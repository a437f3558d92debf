import Files
import Support
import Testing

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

    /// The stamp of a file once it has rested.
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
