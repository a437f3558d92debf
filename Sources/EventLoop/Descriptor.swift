import CSystemd
import Glibc
package import POSIX

/// Calls its handler for as long as a descriptor is ready (epoll(7), level-triggered): unread bytes call it again.
package final class Descriptor {
    /// Events to wait for, and events that came.
    package struct Events: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        private init(_ events: EPOLL_EVENTS) { rawValue = events.rawValue }

        package static let readable = Events(EPOLLIN)
        package static let writable = Events(EPOLLOUT)
        /// Both directions are closed. Reported also when not asked for.
        package static let hangUp = Events(EPOLLHUP)
        /// Reported also when not asked for.
        package static let error = Events(EPOLLERR)
    }

    private let source: EventSource<Events>

    /// Waits for these events on a descriptor; without events for nothing. With `owned` the descriptor is closed
    /// together with this object, and also when this throws; otherwise it must stay open for longer than this object
    /// lives.
    package init(
        _ loop: EventLoop, _ descriptor: Int32, _ events: Events, owned: Bool = false,
        priority: EventLoop.Priority = .normal, handler: @escaping (Events) -> Void
    ) throws(SystemError) {
        do {
            source = try unsafe EventSource("add descriptor", handler: handler) {
                source, userdata in
                unsafe sd_event_add_io(
                    loop.pointer, &source, descriptor, events.rawValue,
                    { _, _, events, userdata in
                        unsafe EventSource.deliver(Events(rawValue: events), to: userdata)
                    }, userdata)
            }
        } catch {
            if owned { close(descriptor) }
            throw error
        }
        if owned {
            unsafe expectSuccess(source.withPointer { unsafe sd_event_source_set_io_fd_own($0, 1) })
        }
        if priority != .normal { source.setPriority(priority) }
        if events.isEmpty { source.turnOff() }
    }

    /// Stops waiting at once, even if its own handler drops it and still holds the source: epoll
    /// takes a descriptor only once, and the next object may wait for the same descriptor now.
    deinit { source.turnOff() }

    /// Waits for these events from now on; without events it waits for nothing, not even a hang-up.
    package func listen(for events: Events) throws(SystemError) {
        guard !events.isEmpty else { return source.turnOff() }
        try SystemError.check(
            "listen on descriptor",
            unsafe source.withPointer {
                let result = unsafe sd_event_source_set_io_events($0, events.rawValue)
                guard result >= 0 else { return result }
                return unsafe sd_event_source_set_enabled($0, Int32(SD_EVENT_ON))
            })
    }
}
