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

@Suite(.timeLimit(.minutes(5)))
struct DeferredTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func aDeferredSourceIsOffUntilArmed() throws {
        let calls = Counter()
        let deferred = Deferred(loop) { calls.add() }
        try loop.settle()
        #expect(calls.count == 0)
        deferred.arm()
        #expect(calls.count == 0)
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test func aSourceThatIsArmedTwiceIsCalledOnce() throws {
        let calls = Counter()
        let deferred = Deferred(loop) { calls.add() }
        deferred.arm()
        deferred.arm()
        try loop.settle()
        #expect(calls.count == 1)
    }

    /// What comes last by its priority comes last, also if it was armed first.
    @Test func aLowerPriorityComesLater() throws {
        let calls = Holder<[Int]>()
        calls.held = []
        let idle = Deferred(loop, priority: .idle) { calls.held?.append(3) }
        let low = Deferred(loop, priority: .low) { calls.held?.append(2) }
        let normal = Deferred(loop) { calls.held?.append(1) }
        for deferred in [idle, low, normal] { deferred.arm() }
        try loop.settle()
        #expect(calls.held == [1, 2, 3])
    }

    @Test func aSourceThatItsHandlerArmsIsCalledAgain() throws {
        let calls = Counter()
        let holder = Holder<Deferred>()
        holder.held = Deferred(loop) {
            calls.add()
            if calls.count < 3 { holder.held?.arm() }
        }
        holder.held?.arm()
        try loop.settle()
        #expect(calls.count == 3)
        holder.held = nil
    }

    @Test func aSourceThatArmsItselfForeverLeavesOthersTheirTurn() throws {
        let holder = Holder<Deferred>()
        holder.held = Deferred(loop) { holder.held?.arm() }
        holder.held?.arm()
        let calls = Counter()
        let other = try Timer(loop, accuracy: .zero) { calls.add() }
        other.set(at: loop.now.boot)
        try loop.run { calls.count == 1 }
        holder.held = nil
    }
}

@Suite(.timeLimit(.minutes(5)))
struct ProcessTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    /// `raise` sends the signal to this thread only, so that other tests do not see it.
    @Test func aSignalIsAnEventWithItsNumber() throws {
        var numbers: [Int32] = []
        let signals = try Signals(loop, [SIGUSR1, SIGUSR2]) { numbers.append($0.number) }
        defer { keep(signals) }
        raise(SIGUSR2)
        try loop.run { numbers.count == 1 }
        raise(SIGUSR1)
        try loop.run { numbers.count == 2 }
        #expect(numbers == [SIGUSR2, SIGUSR1])
    }

    @Test func aSignalHasOneOwnerOnALoop() throws {
        let signals = try Signals(loop, [SIGUSR1]) { _ in }
        defer { keep(signals) }
        #expect(throws: SystemError("add signal", code: EBUSY)) {
            try Signals(loop, [SIGUSR1]) { _ in }
        }
    }

    @Test func aNumberThatIsNoSignalIsAnError() throws {
        #expect(throws: SystemError("block signal", code: EINVAL)) {
            try Signals(loop, [4711]) { _ in }
        }
    }

    @Test(arguments: [
        ("exit 0", Child.End.exited(0)), ("exit 3", .exited(3)),
        ("kill -TERM $$", .killed(SIGTERM)),
        ("kill -KILL $$", .killed(SIGKILL)),
    ])
    func theEndOfAChildIsReported(script: String, end: Child.End) throws {
        var ends: [Child.End] = []
        let process = try startShell(script)
        let child = try Child(loop, process) { ends.append($0) }
        defer { keep(child) }
        try loop.run { !ends.isEmpty }
        try loop.settle()
        #expect(ends == [end])
        let isThere = kill(process, 0) == 0
        #expect(!isThere, "it is reaped")
    }

    @Test func aProcessThatIsNotThereIsAnError() throws {
        #expect(throws: SystemError("add child", code: ESRCH)) {
            try Child(loop, .max) { _ in }
        }
    }
}
