import CivilTime
import EventLoop
import Testing

extension EventLoop {
    /// Dispatches until the condition holds; fails the test if it does not within half a minute.
    func run(until isDone: () -> Bool, location: SourceLocation = #_sourceLocation) throws {
        let deadline = now.boot + .seconds(30)
        while !isDone() {
            try #require(now.boot < deadline, "nothing came of it", sourceLocation: location)
            try runOnce(.milliseconds(100))
        }
    }

    /// Dispatches what is there already, and what comes of that. What this thread has done to files
    /// is there: inotify queues an event before the system call returns.
    ///
    /// One turn without an event is not the end: sd-event reads inotify a few events at a time, and
    /// those may all be of watches that are gone.
    func settle(location: SourceLocation = #_sourceLocation) throws {
        let deadline = now.boot + .seconds(30)
        var idleTurns = 0
        while idleTurns < 100 {
            try #require(now.boot < deadline, "it never settles", sourceLocation: location)
            idleTurns = try runOnce(.zero) ? 0 : idleTurns + 1
        }
    }
}

/// Counts calls, and can be looked at from outside of the closure that counts.
final class Counter {
    private(set) var count = 0

    func add() { count += 1 }
}

/// Something to hold a source by, so that its own handler can drop it.
final class Holder<Held> {
    var held: Held?
}

/// Holds sources until the end of a test that does not mention them again: say it in a `defer`.
func keep(_ sources: Any...) {
    withExtendedLifetime(sources) {}
}
