import CSystemd
package import CivilTime
import Faults
import Glibc

/// Follows the wall clock: fires at an instant of civil time, and whenever the clock is set.
///
/// A `timerfd(2)` with `TFD_TIMER_CANCEL_ON_SET`, because sd-event's own timers do not tell of a
/// step, and somebody who computed "noon is in three hours" must compute again after one.
package final class WallTimer {
    package enum Event: Hashable, Sendable {
        /// The instant that was set has come.
        case due
        /// The clock was set, forwards or backwards. The instant that was set stays set.
        case clockStepped
    }

    /// The two calls on the descriptor, each returning 0 or an `errno(3)`: a test answers in the
    /// kernel's place, since the machine's clock is not its to set.
    package struct Kernel {
        package var set: (_ descriptor: Int32, _ instant: Instant) -> Int32
        package var read: (_ descriptor: Int32) -> Int32

        package init(
            set: @escaping (Int32, Instant) -> Int32, read: @escaping (Int32) -> Int32
        ) {
            self.set = set
            self.read = read
        }
    }

    private let kernel: Kernel
    private let descriptor: Int32
    private let readiness: Descriptor
    private let unreadStep: Deferred

    package init(
        _ loop: EventLoop, kernel: Kernel = .real, handler: @escaping (Event) -> Void
    ) throws(LoopError) {
        self.kernel = kernel
        let descriptor = try check(
            "make wall clock timer",
            negatedError(timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))))
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

    /// Fires at that instant instead of the one set before; at once if it is past. With nil it
    /// waits for steps of the clock only.
    ///
    /// A step that nobody has read of yet makes the call fail with `ECANCELED`, and is then
    /// forgotten by the kernel: it is told from here, and the call made again.
    package func set(at instant: Instant?) {
        let instant = instant ?? Instant(microseconds: .max)
        var code = kernel.set(descriptor, instant)
        if code == ECANCELED {
            unreadStep.arm()
            code = kernel.set(descriptor, instant)
        }
        Invariant.hold(
            code == 0 || code == ECANCELED, "\(LoopError("set the wall clock timer", code: code))")
    }
}

extension WallTimer.Kernel {
    /// The system's own.
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
    /// What `timerfd_settime(2)` accepts: not before 1970, which is invalid, nor its very first
    /// moment, which would disarm the timer, and not after the year 2255, near the end of the
    /// kernel's nanoseconds.
    fileprivate init(clamping instant: Instant) {
        let farFuture: Int64 = 9_000_000_000_000_000
        let microseconds = min(max(instant.microseconds, 1), farFuture)
        self.init(
            tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1_000)
    }
}
