import CSystemd
import Glibc

/// Calls its handler soon: from the loop, once what is being dispatched now has returned. Off until
/// it is armed.
///
/// An eventfd(2) rather than sd-event's own defer source, which counts as waiting since the day it
/// was made and so comes before everything else: one whose handler arms it again is then all that
/// the loop ever does, and not even a signal gets through.
package final class Deferred {
    private let descriptor: Int32
    private let readiness: Descriptor

    package init(_ loop: EventLoop, handler: @escaping () -> Void) throws(LoopError) {
        let descriptor = try check(
            "make deferred", negatedError(eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))))
        self.descriptor = descriptor
        readiness = try Descriptor(loop, descriptor, .readable, owned: true) { _ in
            var timesArmed: eventfd_t = 0
            unsafe eventfd_read(descriptor, &timesArmed)
            handler()
        }
    }

    /// One call of the handler, however often this is asked for before it. Asked for by the handler
    /// itself it is one more call, after other sources have had their turn.
    package func arm() {
        // It fails only when armed 2^64 times without a call, and is armed then.
        eventfd_write(descriptor, 1)
    }
}
