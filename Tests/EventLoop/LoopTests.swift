import CivilTime
import EventLoop
import Files
import Glibc
import POSIX
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LoopTests {
    @Test func theLoopEndsWithTheCodeThatWasAskedFor() throws {
        let loop = try EventLoop()
        let end = Deferred(loop) { loop.exit(7) }
        end.arm()
        #expect(try loop.run() == 7)
    }

    /// Sources may outlive the end of their loop. Setting them then has no effect and is no error.
    @Test func aLoopThatEndedStaysEndedAndItsSourcesStayQuiet() throws {
        let loop = try EventLoop()
        let calls = Counter()
        let deferred = Deferred(loop) { calls.add() }
        let timer = try Timer(loop, accuracy: .zero) { calls.add() }
        let wallTimer = try WallTimer(loop) { _ in calls.add() }
        loop.exit(0)
        #expect(try loop.run() == 0)
        #expect(throws: SystemError.self) { try loop.run() }
        deferred.arm()
        timer.set(at: loop.now.boot)
        wallTimer.set(at: loop.now.wall)
        #expect(calls.count == 0)
    }

    @Test func aDeferredCallKeepsItsLoop() throws {
        var loop: EventLoop? = try EventLoop()
        weak let object = loop
        let calls = Counter()
        let deferred = Deferred(try #require(loop)) { calls.add() }
        defer { keep(deferred) }
        loop = nil
        deferred.arm()
        try #require(object).settle()
        #expect(calls.count == 1)
    }

    @Test func theClocksMoveOnWithinOneEvent() throws {
        let loop = try EventLoop()
        let deferred = Deferred(loop) {
            let first = loop.now
            while loop.now.boot == first.boot {}
            #expect(loop.now.boot > first.boot)
            loop.exit(0)
        }
        deferred.arm()
        #expect(try loop.run() == 0)
    }

    @Test func nothingHappensWhenThereIsNothingToDo() throws {
        let loop = try EventLoop()
        let deferred = Deferred(loop) {}
        let timer = try Timer(loop, accuracy: .zero) {}
        let wallTimer = try WallTimer(loop) { _ in }
        defer { keep(deferred, timer, wallTimer) }
        #expect(try loop.runOnce(.milliseconds(20)) == false)
    }

    @Test func errorsSayWhatWasTriedAndWhy() {
        #expect(
            SystemError("add timer", code: ENOSPC).description
                == "add timer: no space left on device")
        #expect(SystemError("watch '/a'", code: ENOENT).isNotFound)
    }

    /// Other tests open descriptors at the same time, but never hundreds.
    @Test func nothingIsLeftOpen() throws {
        let scratch = try Scratch()
        let before = try Directory.list("/proc/self/fd").count
        for _ in 0..<500 {
            let loop = try EventLoop()
            let (end, other) = try makePair()
            defer { close(other) }
            let sources: [Any] = [
                try Timer(loop, accuracy: .zero) {},
                try WallTimer(loop) { _ in },
                Deferred(loop) {},
                try Descriptor(loop, end, .writable, owned: true) { _ in },
                try Signals(loop, [SIGUSR2]) { _ in },
                try Watch(loop, scratch.path, IN_CREATE) { _ in },
                PathWatch(loop, path: scratch("file")) {},
            ]
            defer { keep(sources) }
            _ = try loop.runOnce(.zero)
        }
        #expect(try Directory.list("/proc/self/fd").count < before + 250)
    }
}
