import CSystemd
package import CivilTime
import Glibc

/// A one-shot timer on `CLOCK_REALTIME` that also tells when somebody sets that clock
/// (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`).
package final class WallTimer {
    package enum Expiry: Hashable, Sendable {
        /// The instant has come.
        case due
        /// The clock was set. The timer is to be set anew.
        case clockStepped
    }

    private let descriptor: Int32
    private let handler: (Expiry) -> Void
    private var readiness: Descriptor?
    /// What the kernel was told last, and has neither fulfilled nor cancelled.
    private var armed: Int64?

    /// A timer that tells of steps alone, until it is set.
    package init(
        _ loop: EventLoop, handler: @escaping (Expiry) -> Void
    ) throws(LoopError) {
        self.handler = handler
        descriptor = try valueOrErrno(
            "make timer",
            timerfd_create(
                CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC)))
        readiness = try Descriptor(loop, descriptor, .readable) { [unowned self] _ in expire() }
        set(at: nil)
    }

    deinit {
        readiness = nil
        close(descriptor)
    }

    /// Makes it happen at `instant`, at once where that is past; with nil only when the clock is set.
    package func set(at instant: Instant?) {
        // Zero would disarm it, and the kernel takes no time before 1970.
        let wanted = max(1, instant?.microseconds ?? Int64.max)
        guard armed != wanted else { return }
        armed = wanted
        var value = itimerspec()
        value.it_value.tv_sec = time_t(min(wanted / 1_000_000, Self.furthest))
        value.it_value.tv_nsec = Int(wanted % 1_000_000) * 1000
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        // It can fail only for a value or a descriptor that is not what it is here.
        unsafe timerfd_settime(descriptor, flags, &value, nil)
    }

    /// Takes note that the timer has expired in this way. A test calls it for a step of the clock.
    package func expire(_ expiry: Expiry) {
        handler(expiry)
    }

    /// About the year 5138: the kernel's own limit lies between 2262 and never.
    private static let furthest: Int64 = 9_000_000_000

    private func expire() {
        var count: UInt64 = 0
        let size = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
        armed = nil
        if size > 0 {
            expire(.due)
        } else if errno == ECANCELED {
            expire(.clockStepped)
        }
    }
}
