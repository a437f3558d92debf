import CSystemd
package import CivilTime
import Glibc
package import POSIX

/// Fires once at a moment of this boot, by `CLOCK_BOOTTIME`, which counts through a suspend. Off until it is set.
package final class Timer {
    private let source: EventSource<Void>

    /// A timer that is not set. The accuracy is how much later it may fire, so that one wake-up serves several timers:
    /// large for a poll, `.zero` for a reaction. (To sd-event 0 means 250 ms, so `.zero` is passed on as 1 µs.)
    package init(
        _ loop: EventLoop, accuracy: Duration, handler: @escaping () -> Void
    ) throws(SystemError) {
        let accuracy = UInt64(max(accuracy.microseconds, 1))
        source = try unsafe EventSource("add timer", handler: { _ in handler() }) {
            source, userdata in
            unsafe sd_event_add_time(
                loop.pointer, &source, CLOCK_BOOTTIME, .max, accuracy,
                { _, _, userdata in unsafe EventSource<Void>.deliver((), to: userdata) }, userdata)
        }
        source.turnOff()
    }

    /// Fires at that moment, and not at the one before; at once if it is past. With nil it does not fire.
    package func set(at moment: Boottime?) {
        guard let moment else { return source.turnOff() }
        let microseconds = UInt64(max(moment.microseconds, 0))
        unsafe expectSuccess(
            source.withPointer { unsafe sd_event_source_set_time($0, microseconds) })
        source.turnOn(once: true)
    }
}

/// Follows the wall clock: fires at an instant of civil time, and whenever the clock is set.
///
/// It is a `timerfd(2)` with `TFD_TIMER_CANCEL_ON_SET`, because sd-event's own timers do not report
/// that the clock was set. Code that computed "noon is in three hours" must compute again then.
package final class WallTimer {
    /// Why the handler is called.
    package enum Event: Hashable, Sendable {
        case due
        /// The clock was set, forwards or backwards. The instant that was set stays set.
        case clockStepped
    }

    /// The two system calls on the descriptor; each returns 0 or an `errno(3)`. Tests give their own.
    package struct Kernel {
        package var set: (_ descriptor: Int32, _ instant: Instant) -> Int32
        package var read: (_ descriptor: Int32) -> Int32

        package init(set: @escaping (Int32, Instant) -> Int32, read: @escaping (Int32) -> Int32) {
            self.set = set
            self.read = read
        }
    }

    private let kernel: Kernel
    private let descriptor: Int32
    private let readiness: Descriptor
    private let unreadStep: Deferred

    /// A timer that is set to no instant, and follows the clock from here on.
    package init(
        _ loop: EventLoop, kernel: Kernel = .real, handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.kernel = kernel
        let descriptor = try SystemError.check(
            "make wall clock timer",
            SystemError.negated(timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))))
        self.descriptor = descriptor
        readiness = try Descriptor(loop, descriptor, .readable, owned: true) { _ in
            switch kernel.read(descriptor) {
            case 0: handler(.due)
            case ECANCELED: handler(.clockStepped)
            default: break  // EAGAIN: it was set again since it became readable.
            }
        }
        unreadStep = Deferred(loop) { handler(.clockStepped) }
        set(at: nil)
    }

    /// Fires at that instant, and no longer at the one before; at once if it is past. With nil it waits for steps of
    /// the clock only. A step that was not read yet makes the system call fail with `ECANCELED`, and the kernel forgets
    /// it then: the handler is told from here, and the call is made again.
    package func set(at instant: Instant?) {
        let instant = instant ?? Instant(microseconds: .max)
        var code = kernel.set(descriptor, instant)
        if code == ECANCELED {
            unreadStep.arm()
            code = kernel.set(descriptor, instant)
        }
        Invariant.hold(
            code == 0 || code == ECANCELED, "\(SystemError("set the wall clock timer", code: code))"
        )
    }
}

extension WallTimer.Kernel {
    package static var real: Self {
        Self(
            set: { descriptor, instant in
                var new = itimerspec(it_interval: timespec(), it_value: timespec(clamping: instant))
                let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
                return unsafe timerfd_settime(descriptor, flags, &new, nil) == 0 ? 0 : errno
            },
            read: { descriptor in
                var expirations: UInt64 = 0
                return unsafe Glibc.read(descriptor, &expirations, 8) == 8 ? 0 : errno
            })
    }
}

extension timespec {
    /// The instant as `timerfd_settime(2)` accepts it: after the first moment of 1970, which would disarm the timer,
    /// and not after the year 2255, near the end of the kernel's nanoseconds.
    fileprivate init(clamping instant: Instant) {
        let farFuture: Int64 = 9_000_000_000_000_000
        let microseconds = min(max(instant.microseconds, 1), farFuture)
        self.init(
            tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1_000)
    }
}
