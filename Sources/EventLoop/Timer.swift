import CSystemd
package import CivilTime
import Glibc

/// A one-shot timer on `CLOCK_BOOTTIME`, which counts suspend and never steps.
package final class Timer: EventSource {
    private let handler: () -> Void

    /// A timer that is off.
    ///
    /// - Parameters:
    ///   - loop: Where it happens.
    ///   - accuracy: How much later it may happen, so that the kernel can join wake-ups; zero means
    ///     as exactly as can be had (to sd-event itself it would mean 250 ms).
    ///   - handler: What happens.
    /// - Throws: When the loop cannot take it.
    package init(
        _ loop: EventLoop, accuracy: Duration, handler: @escaping () -> Void
    ) throws(LoopError) {
        self.handler = handler
        super.init(on: loop)
        let slack = UInt64(max(1, accuracy.microseconds))
        try unsafe attach("add timer") { loop, place, userdata in
            unsafe sd_event_add_time(
                loop, place, clockid_t(CLOCK_BOOTTIME), UInt64.max, slack,
                { _, _, userdata in unsafe dispatch(userdata, Timer.self) { $0.handler() } },
                userdata)
        }
        enable(.never)
    }

    /// Makes it happen at `moment`, at once where that is past. Replaces the time set before.
    package func set(at moment: Boottime) {
        setTime(UInt64(max(0, moment.microseconds)))
        enable(.once)
    }

    package func disarm() {
        enable(.never)
    }
}
