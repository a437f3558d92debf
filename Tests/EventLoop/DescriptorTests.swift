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
