import CSystemd
package import CivilTime
import Glibc

/// Fires once at a moment of this boot (`CLOCK_BOOTTIME`: steps of the wall clock do not move it,
/// and a suspend does not stop it). Off until it is set.
package final class Timer {
    private let source: Source<Void>

    /// The accuracy is how much later it may fire, so that the kernel can wake the machine once for
    /// several timers: generous for a poll, `.zero` for a reaction. (To sd-event 0 means 250 ms, so
    /// `.zero` is passed on as 1 µs.)
    package init(
        _ loop: EventLoop, accuracy: Duration, handler: @escaping () -> Void
    ) throws(LoopError) {
        let accuracy = UInt64(max(accuracy.microseconds, 1))
        source = try unsafe Source("add timer", handler: { _ in handler() }) { source, userdata in
            unsafe sd_event_add_time(
                loop.pointer, &source, CLOCK_BOOTTIME, .max, accuracy,
                { _, _, userdata in unsafe Source<Void>.deliver((), to: userdata) }, userdata)
        }
        source.turnOff()
    }

    /// Fires at that moment instead of the one set before; at once if it is past.
    package func set(at moment: Boottime) {
        let microseconds = UInt64(max(moment.microseconds, 0))
        unsafe expectSuccess(
            source.withPointer { unsafe sd_event_source_set_time($0, microseconds) })
        source.turnOn(once: true)
    }

    /// Forgets the moment that was set, if any.
    package func disarm() {
        source.turnOff()
    }
}
