import EventLoop
import Glibc
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
}
