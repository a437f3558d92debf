import CSystemd
package import CivilTime
import Glibc
package import POSIX

/// The event loop of the program's only thread: sd-event(3). Every input is a source on it.
///
/// It is never the thread's default loop, which a library could share, and its own watchdog is off, since that pings
/// whether or not work goes on. Every source keeps the C loop alive: both may be freed in any order.
@safe
package final class EventLoop {
    let pointer: OpaquePointer
    private var madeInotify: Inotify?

    /// Makes a loop with no sources. Throws if memory or descriptors have run out.
    package init() throws(SystemError) {
        var made: OpaquePointer?
        try SystemError.check("make event loop", unsafe sd_event_new(&made))
        guard let pointer = unsafe made else { throw SystemError("make event loop", code: ENOMEM) }
        unsafe self.pointer = pointer
    }

    deinit { unsafe sd_event_unref(pointer) }

    /// Which of several pending events is dispatched first. Among events of one priority it is the oldest.
    package enum Priority: Int64, Sendable {
        case normal = 0
        case low = 50
        /// After everything else: `SD_EVENT_PRIORITY_IDLE`.
        case idle = 100
    }

    /// Dispatches events until `exit(_:)`, and returns its code. A loop that has ended cannot be run again.
    package func run() throws(SystemError) -> Int32 {
        try SystemError.check("run event loop", unsafe sd_event_loop(pointer))
    }

    /// Dispatches the oldest event, and waits for it no longer than `timeout`. Returns whether there was one.
    @discardableResult
    package func runOnce(_ timeout: Duration) throws(SystemError) -> Bool {
        let wait = UInt64(max(timeout.microseconds, 0))
        return try SystemError.check("run event loop", unsafe sd_event_run(pointer, wait)) > 0
    }

    /// Ends `run()` after the event that is being dispatched; `code` is 0 or positive.
    package func exit(_ code: Int32) { unsafe expectSuccess(sd_event_exit(pointer, code)) }

    /// Made by the first watch. It stays without one: to close it takes the kernel milliseconds.
    func inotify() throws(SystemError) -> Inotify {
        if let madeInotify { return madeInotify }
        let made = try Inotify(self)
        madeInotify = made
        return made
    }

    /// The time on both axes, asked of the kernel at each use: it moves on while one event is handled.
    package var now: (wall: Instant, boot: Boottime) { (Self.wallClock, Self.bootClock) }

    /// Gives the kernel back what is free: the C library keeps what a large answer has taken.
    package static func returnFreedMemory() { _ = malloc_trim(1 << 20) }

    /// The wall clock, now: for a program that has no loop to ask.
    package static var wallClock: Instant {
        Instant(microseconds: microseconds(of: CLOCK_REALTIME))
    }

    /// The clock since boot, now: for a program that has no loop to ask.
    package static var bootClock: Boottime {
        Boottime(microseconds: microseconds(of: CLOCK_BOOTTIME))
    }

    /// Whether the kernel calls the wall clock synchronised; nil if a sandbox keeps it from telling.
    package static var isClockSynchronised: Bool? {
        var state = timex()
        let result = unsafe adjtimex(&state)
        return result < 0 ? nil : result != TIME_ERROR
    }

    /// Lends the C loop, for one call, to sd-bus(3), which adds its own sources; `call` negates its `errno(3)`.
    package func attach(_ call: (OpaquePointer) -> Int32) -> Int32 { unsafe call(pointer) }

    /// The time on the axis of systemd's time stamps, now.
    package static var uptime: Uptime { Uptime(microseconds: microseconds(of: CLOCK_MONOTONIC)) }

    private static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

/// Ends the program if a call of sd-event fails that cannot fail while the loop runs.
///
/// Two are harmless: the loop has ended (`ESTALE`), or this is a forked child (`ECHILD`). After any other a timer would
/// never fire; the service manager restarts the program instead.
func expectSuccess(_ result: Int32, file: StaticString = #fileID, line: UInt = #line) {
    Invariant.hold(
        result >= 0 || result == -ESTALE || result == -ECHILD,
        "\(SystemError("change an event source", code: -result))", file: file, line: line)
}

/// Calls its handler from the loop, once the event that is being dispatched has been handled. It costs no system call.
///
/// Each arming makes a new defer source. sd-event dispatches the source that has been pending longest, and counts from
/// when it was made: if the handler armed a kept one again, the loop would dispatch nothing else, not even a signal.
package final class Deferred {
    private let loop: EventLoop
    private let priority: EventLoop.Priority
    private let handler: () -> Void
    private var armed: EventSource<Void>?

    package init(
        _ loop: EventLoop, priority: EventLoop.Priority = .normal, handler: @escaping () -> Void
    ) {
        self.loop = loop
        self.priority = priority
        self.handler = handler
    }

    /// Has the handler called once, however often this is called before that. Called by the handler
    /// itself, it has the handler called once more, after other sources have had their turn.
    package func arm() {
        guard armed == nil else { return }
        do {
            armed = try unsafe EventSource("add deferred call") { [unowned self] in
                let handler = handler
                armed = nil
                handler()
            } add: { source, userdata in
                unsafe sd_event_add_defer(
                    loop.pointer, &source,
                    { _, userdata in unsafe EventSource.deliver((), to: userdata) }, userdata)
            }
            if priority != .normal { armed?.setPriority(priority) }
        } catch {
            // The only other error is that the loop has ended, and then nothing is called any more.
            Invariant.hold(error.code != ENOMEM, "\(error)")
        }
    }
}
