import CSystemd
package import CivilTime
import Faults
import Glibc

/// The one loop of the one thread: sd-event(3), on which everything that happens is a source.
///
/// Never the thread's default loop, which a library could share behind our back, and never its
/// watchdog, which pings whether or not work goes on. The sources keep the C loop alive, so the
/// order in which this object and they go does not matter.
@safe
package final class EventLoop {
    let pointer: OpaquePointer

    package init() throws(LoopError) {
        var made: OpaquePointer?
        try check("make event loop", unsafe sd_event_new(&made))
        guard let pointer = unsafe made else { throw LoopError("make event loop", code: ENOMEM) }
        unsafe self.pointer = pointer
    }

    deinit { unsafe sd_event_unref(pointer) }

    /// Dispatches events until somebody calls `exit(_:)`, and returns the code given there. A loop
    /// that has ended cannot be run again.
    package func run() throws(LoopError) -> Int32 {
        try check("run event loop", unsafe sd_event_loop(pointer))
    }

    /// Dispatches at most one event, the oldest, and waits for it no longer than `timeout`. For
    /// tests, which have something to look at after every event.
    ///
    /// Returns whether there was an event.
    @discardableResult
    package func runOnce(_ timeout: Duration) throws(LoopError) -> Bool {
        let wait = UInt64(max(timeout.microseconds, 0))
        return try check("run event loop", unsafe sd_event_run(pointer, wait)) > 0
    }

    /// Ends `run()` after the event that is being dispatched; `code` is 0 or positive.
    package func exit(_ code: Int32) {
        unsafe expectSuccess(sd_event_exit(pointer, code))
    }

    /// The time on both axes, asked of the kernel anew: within one event it moves on.
    package var now: (wall: Instant, boot: Boottime) {
        (
            Self.wallClock,
            Boottime(microseconds: Self.microseconds(of: CLOCK_BOOTTIME))
        )
    }

    /// The wall clock, now: for a program that has no loop to ask.
    package static var wallClock: Instant {
        Instant(microseconds: microseconds(of: CLOCK_REALTIME))
    }

    /// The time on the axis of systemd's time stamps, now.
    package static var uptime: Uptime {
        Uptime(microseconds: microseconds(of: CLOCK_MONOTONIC))
    }

    private static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

/// For calls that can fail in two cases only, in both of which nothing will be dispatched any more
/// and there is nobody to tell: the loop has ended (`ESTALE`), or this is a forked child
/// (`ECHILD`). Anything else would be a poll that never comes: better to end and be restarted.
func expectSuccess(_ result: Int32, file: StaticString = #fileID, line: UInt = #line) {
    Invariant.hold(
        result >= 0 || result == -ESTALE || result == -ECHILD,
        "\(LoopError("change an event source", code: -result))", file: file, line: line)
}

extension EventLoop {
    /// Hands the C loop to a library that adds its own sources to it, such as sd-bus(3). `call` returns
    /// an `errno` negated.
    package func attach(_ call: (OpaquePointer) -> Int32) -> Int32 { unsafe call(pointer) }
}
