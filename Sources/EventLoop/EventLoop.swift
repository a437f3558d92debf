import CSystemd
package import CivilTime
import Glibc

/// The one loop of a program, on sd-event(3): everything that happens is a source of it.
///
/// Never the default loop, and never `sd_event_set_watchdog`, which would ping whether or not the
/// work goes on.
@safe
package final class EventLoop {
    let handle: OpaquePointer

    package init() throws(LoopError) {
        var event: OpaquePointer?
        try valueOrError("make event loop", unsafe sd_event_new(&event))
        guard let event = unsafe event else { throw LoopError("make event loop", code: ENOMEM) }
        unsafe handle = event
    }

    deinit {
        unsafe sd_event_unref(handle)
    }

    /// Runs until `exit(_:)`; gives its code.
    package func run() throws(LoopError) -> Int32 {
        try valueOrError("run event loop", unsafe sd_event_loop(handle))
    }

    /// Waits at most `timeout` for something to happen, and handles one thing that did.
    package func runOnce(_ timeout: Duration) throws(LoopError) {
        let limit = UInt64(max(0, timeout.microseconds))
        try valueOrError("run event loop", unsafe sd_event_run(handle, limit))
    }

    /// Ends `run()` after the present handler. The first code counts.
    package func exit(_ code: Int32) {
        // It fails only where the loop has ended already.
        unsafe sd_event_exit(handle, code)
    }

    /// Both clocks, read now.
    package var now: (wall: Instant, boot: Boottime) {
        (
            Instant(microseconds: Self.read(CLOCK_REALTIME)),
            Boottime(microseconds: Self.read(CLOCK_BOOTTIME))
        )
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
