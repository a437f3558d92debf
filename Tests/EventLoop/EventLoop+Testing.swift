import CivilTime
import EventLoop
import Testing

extension EventLoop {
    /// Dispatches until the condition holds; fails the test after half a minute.
    func run(until isDone: () -> Bool, location: SourceLocation = #_sourceLocation) throws {
        let deadline = now.boot + .seconds(30)
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
        let deadline = now.boot + .seconds(30)
        var idleTurns = 0
        while idleTurns < 100 {
            try #require(now.boot < deadline, "it never settles", sourceLocation: location)
            idleTurns = try runOnce(.zero) ? 0 : idleTurns + 1
        }
    }
}

/// Counts the calls of a closure.
final class Counter {
    private(set) var count = 0

    func add() { count += 1 }
}

/// Holds a source, so that its handler can drop it.
final class Holder<Held> {
    var held: Held?
}

/// Keeps sources alive until the end of a test, by a `defer`.
func keep(_ sources: Any...) {
    withExtendedLifetime(sources) {}
}
