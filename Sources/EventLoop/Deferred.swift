import CSystemd
import Faults
import Glibc

/// Calls its handler soon: from the loop, once what is being dispatched now has returned. Off until
/// it is armed. It costs no system call.
///
/// Each arming is a defer source of its own. sd-event takes the source that has waited longest, and
/// a defer source that is kept counts as waiting since the day it was made: one whose handler arms it
/// again would then be all that the loop ever does, and not even a signal would get through.
package final class Deferred {
    private let loop: EventLoop
    private let handler: () -> Void
    private var armed: Source<Void>?

    package init(_ loop: EventLoop, handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// One call of the handler, however often this is asked for before it. Asked for by the handler
    /// itself it is one more call, after other sources have had their turn.
    package func arm() {
        guard armed == nil else { return }
        do {
            armed = try unsafe Source("add deferred call") { [unowned self] in
                let handler = handler
                armed = nil
                handler()
            } add: { source, userdata in
                unsafe sd_event_add_defer(
                    loop.pointer, &source,
                    { _, userdata in unsafe Source.deliver((), to: userdata) }, userdata)
            }
        } catch {
            // The one other error is a loop that has ended, where nothing is called any more.
            Invariant.hold(error.code != ENOMEM, "\(error)")
        }
    }
}
