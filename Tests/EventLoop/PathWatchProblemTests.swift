import EventLoop
import Glibc
import POSIX
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PathWatchProblemTests {
    private let loop: EventLoop
    private let scratch: Scratch

    init() throws {
        loop = try EventLoop()
        scratch = try Scratch()
    }

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
}

@Suite(.timeLimit(.minutes(5)))
struct PathWatchStressTests {
    private let loop: EventLoop
    private let scratch: Scratch

    init() throws {
        loop = try EventLoop()
        scratch = try Scratch()
    }

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
