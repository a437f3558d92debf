import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PathWatchTests {
    /// Something done to a folder whose path `path` is followed.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var path = "dir/file"
        var before: @Sendable (Scratch) -> Void = { scratch in
            scratch.makeDirectory("dir")
            scratch.write("dir/file")
        }
        let change: @Sendable (Scratch) -> Void
    }

    /// A mounted ConfigMap: `file` → `..data/file`, `..data` → the folder of the moment.
    @Sendable static func configMap(_ scratch: Scratch) {
        for version in ["..1", "..2"] {
            scratch.makeDirectory(version)
            scratch.write("\(version)/file", version)
        }
        scratch.link("..data", to: "..1")
        scratch.link("file", to: "..data/file")
    }

    /// `dir` → `middle` → `real`, the second by an absolute path with a detour.
    @Sendable static func chain(_ scratch: Scratch) {
        scratch.makeDirectory("real")
        scratch.makeDirectory("other")
        scratch.write("real/file")
        scratch.write("other/file")
        scratch.link("middle", to: "\(scratch.path)/other/.././/real/")
        scratch.link("dir", to: "middle")
    }

    static let told: [Change] = [
        Change(testDescription: "written in place") { $0.write("dir/file") },
        Change(testDescription: "emptied in place") { $0.write("dir/file", "") },
        Change(testDescription: "replaced") { $0.replace("dir/file") },
        Change(testDescription: "deleted") { $0.remove("dir/file") },
        Change(testDescription: "deleted and made again") {
            $0.remove("dir/file")
            $0.write("dir/file")
        },
        Change(testDescription: "moved away") { $0.rename("dir/file", "elsewhere") },
        Change(testDescription: "made where there was none", before: { $0.makeDirectory("dir") }) {
            $0.write("dir/file")
        },
        Change(testDescription: "linked where there was none", before: { $0.makeDirectory("dir") })
        {
            $0.write("new")
            $0.link("dir/file", to: "../new")
        },
        Change(testDescription: "mode changed") { unsafe _ = chmod($0("dir/file"), 0o600) },
        Change(testDescription: "a directory in its place") {
            $0.remove("dir/file")
            $0.makeDirectory("dir/file")
        },
        Change(testDescription: "directory deleted") { $0.remove("dir") },
        Change(testDescription: "directory deleted and made again with the file") {
            $0.remove("dir")
            $0.makeDirectory("dir")
            $0.write("dir/file")
        },
        Change(testDescription: "directory moved away") { $0.rename("dir", "gone") },
        Change(testDescription: "directory made with the file", before: { _ in }) {
            $0.makeDirectory("dir")
            $0.write("dir/file")
        },
        Change(
            testDescription: "directories above it made", path: "a/b/c/file", before: { _ in }
        ) {
            $0.makeDirectory("a")
            $0.makeDirectory("a/b")
            $0.makeDirectory("a/b/c")
            $0.write("a/b/c/file")
        },
        Change(
            testDescription: "a directory far above it moved", path: "a/b/file",
            before: {
                $0.makeDirectory("a")
                $0.makeDirectory("a/b")
                $0.write("a/b/file")
            }
        ) { $0.rename("a", "z") },
        Change(testDescription: "..data swapped", path: "file", before: configMap) {
            $0.relink("..data", to: "..2")
        },
        Change(testDescription: "written behind links", path: "file", before: configMap) {
            $0.write("..1/file")
        },
        Change(testDescription: "its own link swapped", path: "file", before: configMap) {
            $0.relink("file", to: "..2/file")
        },
        Change(testDescription: "first link of a chain", before: chain) {
            $0.relink("dir", to: "other")
        },
        Change(testDescription: "second link of a chain", before: chain) {
            $0.relink("middle", to: "other")
        },
        Change(testDescription: "a detour of a chain removed", before: chain) {
            $0.remove("other")
        },
        Change(testDescription: "file at the end of a chain replaced", before: chain) {
            $0.replace("real/file")
        },
        Change(
            testDescription: "a link that led nowhere", path: "file",
            before: { $0.link("file", to: "target") }
        ) { $0.write("target") },
        Change(
            testDescription: "a loop of links broken", path: "one",
            before: {
                $0.link("one", to: "two")
                $0.link("two", to: "one")
            }
        ) { $0.replace("two") },
        Change(
            testDescription: "one link too many taken out", path: "40",
            before: { scratch in
                scratch.write("file")
                scratch.link("0", to: "file")
                for link in 1...40 { scratch.link("\(link)", to: "\(link - 1)") }
            }
        ) { $0.relink("0", to: "file") },
        Change(
            testDescription: "a path that is not ASCII", path: "é/ファイル",
            before: { $0.makeDirectory("é") }
        ) { $0.write("é/ファイル") },
    ]

    @Test(arguments: told) func isToldOnceForOneChange(_ change: Change) throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        change.before(scratch)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch(change.path)) { calls.add() }
        try loop.settle()
        #expect(watch.problem == nil)
        #expect(calls.count == 0)
        change.change(scratch)
        try loop.settle()
        #expect(calls.count == 1)
    }

    /// Whatever happened, the path is still followed, to what it leads to now.
    @Test(arguments: told) func goesOnAfterTheChange(_ change: Change) throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        change.before(scratch)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch(change.path)) { calls.add() }
        change.change(scratch)
        try loop.settle()
        var status = stat()
        guard unsafe stat(scratch(change.path), &status) == 0 else { return }
        let before = calls.count
        unsafe _ = chmod(scratch(change.path), 0o700)
        if status.st_mode & S_IFMT == S_IFDIR {
            scratch.rename(change.path, "away")
        } else {
            scratch.write(change.path, "again")
        }
        try loop.settle()
        #expect(calls.count > before)
        #expect(watch.problem == nil)
    }

    static let untold: [Change] = [
        Change(testDescription: "another file made") { $0.write("dir/other") },
        Change(testDescription: "another file beside the directory") { $0.write("other") },
        Change(testDescription: "another name that begins alike") { $0.write("dir/file.new") },
        Change(
            testDescription: "another file replaced",
            before: {
                $0.makeDirectory("dir")
                $0.write("dir/file")
                $0.write("dir/other")
            }
        ) { $0.replace("dir/other") },
        Change(testDescription: "read") { #expect($0.read("dir/file") == "x") },
        Change(
            testDescription: "the folder of a ConfigMap to come", path: "file", before: configMap
        ) {
            $0.makeDirectory("..3")
            $0.write("..3/file")
        },
    ]

    @Test(arguments: untold) func isNotToldOfWhatDoesNotMatter(_ change: Change) throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        change.before(scratch)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch(change.path)) { calls.add() }
        defer { keep(watch) }
        change.change(scratch)
        try loop.settle()
        #expect(calls.count == 0)
    }

    @Test func isNotToldOfAFileHalfWritten() throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        scratch.write("file")
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch("file")) { calls.add() }
        defer { keep(watch) }
        let file = unsafe open(scratch("file"), O_WRONLY | O_TRUNC | O_CLOEXEC)
        writeAll(file, "first half")
        try loop.settle()
        #expect(calls.count == 0)
        writeAll(file, "second half")
        close(file)
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test func whatTheHandlerReadsIsNotOlderThanTheChange() throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        Self.configMap(scratch)
        var read: [String] = []
        let watch = PathWatch(loop, path: scratch("file")) { read.append(scratch.read("file")) }
        defer { keep(watch) }
        scratch.relink("..data", to: "..2")
        try loop.settle()
        scratch.relink("..data", to: "..1")
        try loop.settle()
        #expect(read == ["..2", "..1"])
    }

    @Test func twoWatchesOfOnePathAreBothTold() throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        let counters = [Counter(), Counter()]
        let watches = counters.map { counter in
            PathWatch(loop, path: scratch("file")) { counter.add() }
        }
        defer { keep(watches) }
        for round in 1...20 {
            scratch.write("file", "\(round)")
            try loop.settle()
            scratch.remove("file")
            try loop.settle()
        }
        #expect(counters.allSatisfy { $0.count >= 40 })
    }

    @Test func lostEventsAreAChange() throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        var last = ""
        let watch = PathWatch(loop, path: scratch("file")) { last = scratch.read("file") }
        defer { keep(watch) }
        scratch.overflowTheQueue()
        scratch.write("file", "last")
        try loop.run { last == "last" }
    }
}
