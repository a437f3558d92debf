import EventLoop
import Glibc
import Testing

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
