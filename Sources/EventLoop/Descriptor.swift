import CSystemd
import Glibc

/// Tells when a descriptor is ready, for as long as it is (epoll(7), level-triggered): a handler
/// that does not read what is there is called again.
package final class Descriptor {
    /// What to wait for, and what came of it.
    package struct Events: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        private init(_ events: EPOLL_EVENTS) { rawValue = events.rawValue }

        package static let readable = Events(EPOLLIN)
        package static let writable = Events(EPOLLOUT)
        /// Exceptional data, such as TCP's urgent byte.
        package static let priority = Events(EPOLLPRI)
        /// The other end will send no more.
        package static let readHangUp = Events(EPOLLRDHUP)
        /// Both directions are closed. Reported also when not asked for.
        package static let hangUp = Events(EPOLLHUP)
        /// Reported also when not asked for.
        package static let error = Events(EPOLLERR)
    }

    private let source: Source<Events>

    /// Waits for these events on a descriptor; with none, for nothing.
    ///
    /// With `owned` the descriptor is closed together with this object, and also when this throws;
    /// otherwise it must stay open for longer than this object lives.
    package init(
        _ loop: EventLoop, _ descriptor: Int32, _ events: Events, owned: Bool = false,
        handler: @escaping (Events) -> Void
    ) throws(LoopError) {
        do {
            source = try unsafe Source("add descriptor", handler: handler) { source, userdata in
                unsafe sd_event_add_io(
                    loop.pointer, &source, descriptor, events.rawValue,
                    { _, _, events, userdata in
                        unsafe Source.deliver(Events(rawValue: events), to: userdata)
                    }, userdata)
            }
        } catch {
            if owned { close(descriptor) }
            throw error
        }
        if owned {
            unsafe expectSuccess(
                source.withPointer { unsafe sd_event_source_set_io_fd_own($0, 1) })
        }
        if events.isEmpty { source.turnOff() }
    }

    /// Nothing is waited for from here on, also where this is dropped by its own handler, which still
    /// holds the source: epoll takes a descriptor only once, and the next in line may want it now.
    deinit { source.turnOff() }

    /// Waits for these events instead; with none, for nothing, not even a hang-up.
    package func listen(for events: Events) throws(LoopError) {
        guard !events.isEmpty else { return source.turnOff() }
        try check(
            "listen on descriptor",
            unsafe source.withPointer {
                let result = unsafe sd_event_source_set_io_events($0, events.rawValue)
                guard result >= 0 else { return result }
                return unsafe sd_event_source_set_enabled($0, Int32(SD_EVENT_ON))
            })
    }
}
