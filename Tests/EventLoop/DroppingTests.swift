import CivilTime
import EventLoop
import Glibc
import Testing

/// Each kind of source, dropped inside its own handler.
@Suite(.timeLimit(.minutes(5)))
struct DroppingTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Makes the source and lets it fire at least once.
        let start: @Sendable (EventLoop, Scratch, @escaping () -> Void) throws -> Any
    }

    static let kinds: [Kind] = [
        Kind(testDescription: "deferred") { loop, _, handler in
            let deferred = Deferred(loop, handler: handler)
            deferred.arm()
            return deferred
        },
        Kind(testDescription: "timer") { loop, _, handler in
            let timer = try Timer(loop, accuracy: .zero, handler: handler)
            timer.set(at: loop.now.boot)
            return timer
        },
        Kind(testDescription: "wall clock timer") { loop, _, handler in
            let timer = try WallTimer(loop) { _ in handler() }
            timer.set(at: loop.now.wall)
            return timer
        },
        Kind(testDescription: "descriptor") { loop, _, handler in
            let (end, other) = try makePair()
            close(other)
            return try Descriptor(loop, end, .writable, owned: true) { _ in handler() }
        },
        Kind(testDescription: "signals") { loop, _, handler in
            // No other test uses SIGWINCH: if it is dropped unread, it stays pending on this thread.
            let signals = try Signals(loop, [SIGWINCH]) { _ in handler() }
            raise(SIGWINCH)
            return signals
        },
        Kind(testDescription: "child") { loop, _, handler in
            try Child(loop, startShell("exit 0")) { _ in handler() }
        },
        Kind(testDescription: "watch") { loop, scratch, handler in
            let watch = try Watch(loop, scratch.path, IN_CREATE | IN_CLOSE_WRITE) { _ in handler() }
            scratch.write("file")
            return watch
        },
        Kind(testDescription: "path watch") { loop, scratch, handler in
            let watch = PathWatch(loop, path: scratch("file"), handler: handler)
            scratch.write("file")
            return watch
        },
    ]

    @Test(arguments: kinds) func aSourceMayBeDroppedInItsOwnHandler(kind: Kind) throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        let calls = Counter()
        let holder = Holder<Any>()
        holder.held = try kind.start(loop, scratch) {
            holder.held = nil
            calls.add()
        }
        try loop.run { calls.count > 0 }
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test(arguments: kinds) func aDroppedSourceIsNeverCalled(kind: Kind) throws {
        let loop = try EventLoop()
        let scratch = try Scratch()
        let calls = Counter()
        _ = try kind.start(loop, scratch) { calls.add() }
        #expect(try loop.runOnce(.milliseconds(20)) == false)
        #expect(calls.count == 0)
    }

    @Test func aDueSourceThatAnotherHandlerDropsIsNotCalled() throws {
        let loop = try EventLoop()
        let calls = Counter()
        let holders = [Holder<Deferred>(), Holder<Deferred>()]
        for (mine, other) in [(0, 1), (1, 0)] {
            holders[mine].held = Deferred(loop) {
                holders[other].held = nil
                calls.add()
            }
            holders[mine].held?.arm()
        }
        try loop.settle()
        #expect(calls.count == 1)
        for holder in holders { holder.held = nil }
    }
}
