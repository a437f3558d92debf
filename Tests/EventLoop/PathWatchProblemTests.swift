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
