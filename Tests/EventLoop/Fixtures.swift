import CivilTime
import EventLoop
import Glibc
import Support
import Testing

/// A temporary folder with methods to change its content. It is removed with the object.
///
/// Names are relative to the folder. A step that fails is a failure of the test.
final class Scratch {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    init() throws { folder = try TemporaryFolder() }

    func callAsFunction(_ name: String) -> String { folder(name) }

    /// Opens for writing, writes and closes; the file is made if it is not there.
    func write(_ name: String, _ text: String = "x") {
        let descriptor = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        writeAll(descriptor, text)
        close(descriptor)
    }

    /// Writes beside it and renames.
    func replace(_ name: String, _ text: String = "x") {
        write("\(name).new", text)
        rename("\(name).new", name)
    }

    func rename(_ name: String, _ newName: String) {
        expect(unsafe Glibc.rename(self(name), self(newName)), "rename \(name)")
    }

    func makeDirectory(_ name: String) { expect(unsafe mkdir(self(name), 0o755), "make \(name)") }

    /// The target is not changed: a relative one counts from the link.
    func link(_ name: String, to target: String) {
        expect(unsafe symlink(target, self(name)), "link \(name)")
    }

    /// Swaps a link atomically, as Kubernetes does it.
    func relink(_ name: String, to target: String) {
        link("\(name).new", to: target)
        rename("\(name).new", name)
    }

    /// Removes a file or a link, or a directory with everything in it.
    func remove(_ name: String) {
        folder.remove(name)
        expect(unsafe access(self(name), F_OK) == 0 ? -1 : 0, "remove \(name)")
    }

    /// The content of a file; empty without one.
    func read(_ name: String) -> String { (try? folder.text(of: name)) ?? "" }

    private func expect(_ result: Int32, _ step: String) {
        #expect(result == 0, "\(step): errno \(errno)")
    }
}

extension EventLoop {
    /// Dispatches until the condition holds; fails the test after two minutes.
    func run(until isDone: () -> Bool, location: SourceLocation = #_sourceLocation) throws {
        let deadline = now.boot + .seconds(120)
        while !isDone() {
            try #require(now.boot < deadline, "timed out", sourceLocation: location)
            try runOnce(.milliseconds(100))
        }
    }

    /// Dispatches all pending events, and those that they cause. Changes of files by this thread are
    /// pending: inotify queues an event before the system call returns.
    ///
    /// One turn without an event is not enough: sd-event reads a few events of inotify at a time, and all
    /// of them may belong to removed watches.
    func settle(location: SourceLocation = #_sourceLocation) throws {
        let deadline = now.boot + .seconds(120)
        var idleTurns = 0
        while idleTurns < 100 {
            try #require(now.boot < deadline, "it never settles", sourceLocation: location)
            idleTurns = try runOnce(.zero) ? 0 : idleTurns + 1
        }
    }
}

final class Counter {
    private(set) var count = 0

    func add() { count += 1 }
}

/// Holds a source, so that its handler can drop it.
final class Holder<Held> {
    var held: Held?
}

/// Keeps sources alive until the end of a test, by a `defer`.
func keep(_ sources: Any...) { withExtendedLifetime(sources) {} }

/// Starts `/bin/sh -c script` and returns its process ID; the caller has to reap it. Every signal has its
/// default action there.
func startShell(_ script: String) throws -> Int32 {
    let words: [String] = ["/bin/sh", "-c", script]
    let arguments = unsafe words.map { unsafe strdup($0) }
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var all = sigset_t()
    unsafe sigfillset(&all)
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, "/bin/sh", nil, &attributes, arguments + [nil], environ)
    try #require(code == 0, "start a shell: errno \(code)")
    return process
}

/// Two connected sockets. They are close-on-exec from the start, so that no shell of another test holds one open.
func makePair() throws -> (Int32, Int32) {
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    var ends: [Int32] = [-1, -1]
    let result = unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends)
    try #require(result == 0)
    return (ends[0], ends[1])
}

/// Reads at most one byte: 1 for a byte, 0 at the end, -1 if nothing is there yet.
func readByte(_ descriptor: Int32) -> Int {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1)
}

func writeAll(_ descriptor: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
}
