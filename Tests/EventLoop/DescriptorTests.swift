import CivilTime
import EventLoop
import Glibc
import POSIX
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DescriptorTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func readinessIsReportedAsLongAsThereIsSomethingToRead() throws {
        let (end, other) = try makePair()
        defer { close(other) }
        var events: [Descriptor.Events] = []
        let descriptor = try Descriptor(loop, end, .readable, owned: true) {
            events.append($0)
        }
        defer { keep(descriptor) }
        try loop.settle()
        #expect(events.isEmpty)
        writeAll(other, "x")
        #expect(try loop.runOnce(.seconds(1)))
        #expect(try loop.runOnce(.seconds(1)))
        #expect(events == [.readable, .readable])
        #expect(readByte(end) == 1)
        #expect(try loop.runOnce(.milliseconds(10)) == false)
    }

    @Test func aHangUpIsReportedWithoutBeingListenedFor() throws {
        let (end, other) = try makePair()
        var events: Descriptor.Events = []
        let descriptor = try Descriptor(loop, end, .readable, owned: true) {
            events.formUnion($0)
        }
        defer { keep(descriptor) }
        close(other)
        #expect(try loop.runOnce(.seconds(1)))
        #expect(events.contains(.hangUp))
    }

    @Test func listeningForNothingIsQuietEvenAfterAHangUp() throws {
        let (end, other) = try makePair()
        let calls = Counter()
        let descriptor = try Descriptor(loop, end, [], owned: true) { _ in calls.add() }
        close(other)
        #expect(try loop.runOnce(.milliseconds(10)) == false)
        try descriptor.listen(for: .readable)
        #expect(try loop.runOnce(.seconds(1)))
        #expect(calls.count == 1)
        try descriptor.listen(for: [])
        #expect(try loop.runOnce(.milliseconds(10)) == false)
    }

    @Test func theEventsListenedForCanChange() throws {
        let (end, other) = try makePair()
        defer { close(other) }
        var events: [Descriptor.Events] = []
        let descriptor = try Descriptor(loop, end, .readable, owned: true) {
            events.append($0)
        }
        try loop.settle()
        #expect(events.isEmpty)
        try descriptor.listen(for: .writable)
        #expect(try loop.runOnce(.seconds(1)))
        #expect(events == [.writable])
    }

    @Test func aSourceDroppedInItsHandlerLeavesTheDescriptorToTheNext() throws {
        let (end, other) = try makePair()
        defer {
            close(end)
            close(other)
        }
        let calls = Counter()
        var descriptor: Descriptor?
        descriptor = try Descriptor(loop, end, .readable) { _ in
            descriptor = nil
            do {
                descriptor = try Descriptor(loop, end, .readable) { _ in calls.add() }
            } catch {
                Issue.record(error)
            }
        }
        defer { keep(descriptor as Any) }
        writeAll(other, "x")
        #expect(try loop.runOnce(.seconds(1)))
        #expect(try loop.runOnce(.seconds(1)))
        #expect(calls.count == 1)
    }

    @Test func anOwnedDescriptorIsClosedWithItsSourceAndALentOneIsNot() throws {
        let (end, other) = try makePair()
        defer { close(other) }
        _ = try Descriptor(loop, end, .writable) { _ in }
        #expect(readByte(other) == -1)
        _ = try Descriptor(loop, end, .writable, owned: true) { _ in }
        #expect(readByte(other) == 0)
    }

    @Test func anOwnedDescriptorIsClosedAlsoWhenItCannotBeAdded() throws {
        let (end, other) = try makePair()
        defer { close(other) }
        let first = try Descriptor(loop, end, .writable) { _ in }
        defer { keep(first) }
        #expect(throws: SystemError("add descriptor", code: EEXIST)) {
            try Descriptor(loop, end, .writable, owned: true) { _ in }
        }
        #expect(readByte(other) == 0)
    }

    @Test func aRegularFileIsNotWaitedFor() throws {
        let scratch = try Scratch()
        scratch.write("file")
        let file = unsafe open(scratch("file"), O_RDONLY | O_CLOEXEC)
        let error = #expect(throws: SystemError.self) {
            try Descriptor(loop, file, .readable, owned: true) { _ in }
        }
        #expect(error?.description == "add descriptor: operation not permitted")
    }
}

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
        // What the kernel has queued of a watch is read, and dropped.
        while try loop.runOnce(.milliseconds(20)) {}
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
