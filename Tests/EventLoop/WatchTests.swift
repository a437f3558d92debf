import EventLoop
import Glibc
import POSIX
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WatchTests {
    private let loop: EventLoop
    private let scratch: Scratch

    init() throws {
        loop = try EventLoop()
        scratch = try Scratch()
    }

    @Test func eventsInADirectoryComeWithTheirNamesInOrder() throws {
        var events: [Watch.Event] = []
        let watch = try Watch(
            loop, scratch.path, IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
        ) { events.append($0) }
        defer { keep(watch) }
        scratch.write("a")
        scratch.rename("a", "a much longer name, é")
        scratch.remove("a much longer name, é")
        scratch.makeDirectory("b")
        try loop.settle()
        #expect(
            events.map(\.mask) == [
                IN_CREATE, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_DELETE,
                IN_CREATE | IN_ISDIR,
            ])
        #expect(
            events.map(\.name) == [
                "a", "a", "a", "a much longer name, é", "a much longer name, é", "b",
            ])
    }

    @Test func theEndOfTheWatchIsReportedAfterTheEndOfTheFile() throws {
        scratch.write("a")
        var events: [Watch.Event] = []
        let watch = try Watch(loop, scratch("a"), IN_DELETE_SELF) { events.append($0) }
        defer { keep(watch) }
        scratch.remove("a")
        try loop.settle()
        #expect(events.map(\.mask) == [IN_DELETE_SELF, IN_IGNORED])
        #expect(events.map(\.name) == [nil, nil])
    }

    @Test func twoWatchesOfOneFileEachReportTheirOwnEvents() throws {
        scratch.write("a")
        let written = Counter()
        let touched = Counter()
        let watches = [
            try Watch(loop, scratch("a"), IN_CLOSE_WRITE) { _ in written.add() },
            try Watch(loop, scratch("a"), IN_ATTRIB) { _ in touched.add() },
        ]
        defer { keep(watches) }
        scratch.write("a")
        try loop.settle()
        #expect(written.count == 1)
        #expect(touched.count == 0)
    }

    /// With the inotify of sd-event the loop never came back.
    @Test func theQueuedEventOfARemovedWatchLeavesTheOthersAlone() throws {
        let removed = Counter()
        let left = Counter()
        var created: Watch? = try Watch(loop, scratch.path, IN_CREATE) { _ in removed.add() }
        let deleted = try Watch(loop, scratch.path, IN_DELETE) { _ in left.add() }
        defer { keep(deleted) }
        scratch.write("a")
        created = nil
        try loop.settle()
        #expect(created == nil && removed.count == 0 && left.count == 0)
        scratch.remove("a")
        try loop.settle()
        #expect(left.count == 1)
    }

    @Test func aHandlerMayRemoveTheWatchesThatComeNext() throws {
        var watches: [Watch] = []
        let calls = Counter()
        for _ in 0..<3 {
            watches.append(
                try Watch(loop, scratch.path, IN_CREATE) { _ in
                    calls.add()
                    watches = []
                })
        }
        scratch.write("a")
        scratch.write("b")
        try loop.settle()
        #expect(calls.count == 1)
    }

    /// The next file may have the number of the inode that has gone.
    @Test func aFileInThePlaceOfAWatchedOneIsWatchedAnew() throws {
        let calls = Counter()
        var watches: [Watch] = []
        defer { keep(watches) }
        for _ in 0..<50 {
            scratch.write("a")
            watches.append(try Watch(loop, scratch("a"), IN_CLOSE_WRITE) { _ in calls.add() })
            scratch.remove("a")
            scratch.makeDirectory("a")
            watches.append(try Watch(loop, scratch("a"), IN_DELETE) { _ in calls.add() })
            scratch.remove("a")
        }
        try loop.settle()
        // The end of each watch alone.
        #expect(calls.count == 100)
    }

    @Test func lostEventsAreReported() throws {
        var reported: Int32 = 0
        let watch = try Watch(loop, scratch.path, IN_CREATE | IN_DELETE) {
            reported |= $0.mask
        }
        defer { keep(watch) }
        scratch.overflowTheQueue()
        try loop.run { reported & IN_Q_OVERFLOW != 0 }
    }

    @Test func aMissingFileCanBeToldFromAnotherError() throws {
        scratch.write("a")
        let missing = #expect(throws: SystemError.self) {
            try Watch(loop, scratch("b"), IN_ATTRIB) { _ in }
        }
        #expect(missing?.description == "watch '\(scratch("b"))': no such file or directory")
        #expect(missing?.isNotFound == true)
        let noDirectory = #expect(throws: SystemError.self) {
            try Watch(loop, scratch("a"), IN_CREATE | IN_ONLYDIR) { _ in }
        }
        #expect(noDirectory?.code == ENOTDIR)
    }

    @Test func aLinkItselfCanBeWatched() throws {
        scratch.link("link", to: "nowhere")
        let calls = Counter()
        let watch = try Watch(loop, scratch("link"), IN_MOVE_SELF | IN_DONT_FOLLOW) { _ in
            calls.add()
        }
        defer { keep(watch) }
        scratch.rename("link", "other")
        try loop.settle()
        #expect(calls.count == 1)
    }
}

extension Scratch {
    /// Makes more events in the folder than inotify keeps (`fs.inotify.max_queued_events`).
    func overflowTheQueue() {
        let name = "/proc/sys/fs/inotify/max_queued_events"
        let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        let digits = bytes.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }
        let limit = Int(String(decoding: digits, as: UTF8.self)) ?? 16_384
        for _ in 0..<(limit / 2 + 1) {
            let flood = self("flood")
            close(unsafe open(flood, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644))
            unsafe unlink(flood)
        }
    }
}
