import CSystemd
import Glibc

/// The readiness of a file descriptor. The descriptor stays its owner's.
package final class Descriptor: EventSource {
    /// What a descriptor is ready for.
    package struct Events: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// Reported whether or not it was asked for.
        package static let error = Events(rawValue: EPOLLERR.rawValue)
        /// Reported whether or not it was asked for.
        package static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
    }

    private let handler: (Events) -> Void

    package init(
        _ loop: EventLoop, _ descriptor: Int32, _ events: Events,
        handler: @escaping (Events) -> Void
    ) throws(LoopError) {
        self.handler = handler
        super.init(on: loop)
        try unsafe attach("watch descriptor") { loop, place, userdata in
            unsafe sd_event_add_io(
                loop, place, descriptor, events.rawValue,
                { _, _, events, userdata in
                    unsafe dispatch(userdata, Descriptor.self) {
                        $0.handler(Events(rawValue: events))
                    }
                }, userdata)
        }
    }

    /// Waits for these events from now on.
    package func watch(for events: Events) {
        setEvents(events.rawValue)
    }
}
