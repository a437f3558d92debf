import EventLoop
import Glibc
import POSIX
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PathWatchTests {
    private let loop: EventLoop
    private let scratch: Scratch

    init() throws {
        loop = try EventLoop()
        scratch = try Scratch()
    }

    @Test(arguments: reported) func oneChangeIsReportedOnce(_ change: Change) throws {
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

    /// After each change the watch follows the file to which the path leads now.
    @Test(arguments: reported) func aWatchFollowsThePathAfterAChange(_ change: Change) throws {
        change.before(scratch)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch(change.path)) { calls.add() }
        change.change(scratch)
        try loop.settle()
        let before = calls.count
        var status = stat()
        if unsafe stat(scratch(change.path), &status) != 0 {
            let back = try #require(change.back)
            back(scratch)
        } else if status.st_mode & S_IFMT == S_IFDIR {
            scratch.rename(change.path, "away")
        } else {
            scratch.write(change.path, "again")
        }
        try loop.settle()
        #expect(calls.count > before)
        #expect(watch.problem == nil)
    }

    @Test(arguments: unlogged) func anUnrelatedChangeIsNotReported(_ change: Change) throws {
        change.before(scratch)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch(change.path)) { calls.add() }
        defer { keep(watch) }
        change.change(scratch)
        try loop.settle()
        #expect(calls.count == 0)
    }

    @Test func aHalfWrittenFileIsNotReported() throws {
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

    @Test func twoWatchesOfOnePathBothReportItsChanges() throws {
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

    @Test func lostEventsCountAsAChange() throws {
        var last = ""
        let watch = PathWatch(loop, path: scratch("file")) { last = scratch.read("file") }
        defer { keep(watch) }
        scratch.overflowTheQueue()
        scratch.write("file", "last")
        try loop.run { last == "last" }
    }

    // MARK: - What cannot be watched

    @Test func aPathThatLeadsNowhereIsNoProblem() throws {
        #expect(PathWatch(loop, path: "/no/such/file") {}.problem == nil)
    }

    @Test func aRelativePathIsAProblem() throws {
        let watch = PathWatch(loop, path: "file") {}
        #expect(watch.problem?.description == "watch 'file': invalid argument")
    }

    @Test func aProblemIsGoneWhenItsCauseIsAndTheWatchIsRearmed() throws {
        let notUTF8: [CChar] = [-1, 0]
        #expect(unsafe symlink(notUTF8, scratch("file")) == 0)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch("file")) { calls.add() }
        #expect(watch.problem == SystemError("read link '\(scratch("file"))'", code: EILSEQ))
        scratch.replace("file")
        watch.rearm()
        #expect(watch.problem == nil)
        let before = calls.count
        scratch.write("file")
        try loop.settle()
        #expect(calls.count > before)
    }

    @Test func aChangeThatClearsTheProblemIsReported() throws {
        let notUTF8: [CChar] = [-1, 0]
        #expect(unsafe symlink(notUTF8, scratch("file")) == 0)
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch("file")) { calls.add() }
        scratch.replace("file")
        try loop.settle()
        #expect(calls.count == 1)
        #expect(watch.problem == nil)
    }

    @Test(.disabled(if: getuid() == 0, "root may read any directory"))
    func aDirectoryThatMayNotBeReadIsAProblemAndTheRestIsWatched() throws {
        scratch.makeDirectory("dir")
        scratch.write("dir/file")
        #expect(unsafe chmod(scratch("dir"), 0o311) == 0)
        defer { unsafe _ = chmod(scratch("dir"), 0o755) }
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch("dir/file")) { calls.add() }
        #expect(watch.problem == SystemError("watch '\(scratch("dir"))'", code: EACCES))
        scratch.write("dir/file")
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test func rearmingDoesNotCallTheHandlerNorLoseAChange() throws {
        scratch.write("file")
        let calls = Counter()
        let watch = PathWatch(loop, path: scratch("file")) { calls.add() }
        for _ in 0..<3 { watch.rearm() }
        try loop.settle()
        #expect(calls.count == 0)
        scratch.replace("file")
        watch.rearm()
        try loop.settle()
        #expect(calls.count > 0)
    }

    // MARK: - Under load

    /// Another process writes as fast as it can. The handler is called meanwhile, and after the last write.
    @Test func tenThousandRewritesInPlaceEndWithTheLastOneRead() throws {
        var read: [String] = []
        let watch = PathWatch(loop, path: scratch("file")) { read.append(scratch.read("file")) }
        var end: Child.End?
        let writer = try startShell(
            "i=1; while [ $i -le 10000 ]; do echo $i > '\(scratch("file"))'; i=$((i+1)); done")
        let child = try Child(loop, writer) { end = $0 }
        defer { keep(watch, child) }
        try loop.run { end != nil && read.last == "10000\n" }
        #expect(end == .exited(0))
        #expect(read.count > 1)
    }

    @Test func tenThousandReplacementsEndWithTheLastOneRead() throws {
        var last = ""
        let watch = PathWatch(loop, path: scratch("file")) { last = scratch.read("file") }
        defer { keep(watch) }
        for round in 1...10_000 {
            scratch.replace("file", "\(round)")
            if round % 7 == 0 { try loop.runOnce(.zero) }
        }
        try loop.run { last == "10000" }
    }

    /// The directory vanishes and reappears while the watch looks for it.
    @Test func aDirectoryMadeAndUnmadeByAnotherProcessEndsWithTheLastFileRead() throws {
        var last = ""
        let watch = PathWatch(loop, path: scratch("a/b/file")) { last = scratch.read("a/b/file") }
        var end: Child.End?
        let script = """
            cd '\(scratch.path)' || exit 1; i=1
            while [ $i -le 300 ]; do
                mkdir -p a/b && echo $i > a/b/file
                [ $i -eq 300 ] || rm -r a
                i=$((i+1))
            done
            """
        let child = try Child(loop, startShell(script)) { end = $0 }
        defer { keep(watch, child) }
        try loop.run { end != nil && last == "300\n" }
        #expect(end == .exited(0))
        #expect(watch.problem == nil)
    }
}
