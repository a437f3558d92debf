import CSystemd

/// Something to do once the present handler has returned. Off until it is armed; once per arming.
package final class Deferred: EventSource {
    private let handler: () -> Void

    package init(_ loop: EventLoop, handler: @escaping () -> Void) throws(LoopError) {
        self.handler = handler
        super.init(on: loop)
        try unsafe attach("add deferred call") { loop, place, userdata in
            unsafe sd_event_add_defer(
                loop, place,
                { _, userdata in unsafe dispatch(userdata, Deferred.self) { $0.handler() } },
                userdata)
        }
        enable(.never)
    }

    /// Makes it happen at the next turn of the loop.
    package func arm() {
        enable(.once)
    }
}
