import EventLoop
import Glibc
import POSIX
import Testing

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
