import CSystemd
import POSIX

/// One event source of the C loop. Nothing else owns such a source.
///
/// It may be dropped at any time, in its own handler too: it then lives until the handler returns,
/// and the handler is not called again.
@safe
final class EventSource<Event> {
    /// Nil only while `init` runs: the C source wants the address of this object first.
    private var pointer: OpaquePointer?
    private let handler: (Event) -> Void

    /// Adds a source to the loop; `call` is the verb and object of an error.
    ///
    /// `add` makes one of the `sd_event_add_…` calls: it sets the source, passes the userdata on, and gives a
    /// callback that makes an `Event` of the C arguments and returns the result of `deliver(_:to:)`. sd-event keeps
    /// the address of this object and does not own it: `deinit` takes the source away before the address is void.
    init(
        _ call: String, handler: @escaping (Event) -> Void,
        add: (inout OpaquePointer?, UnsafeMutableRawPointer) -> Int32
    ) throws(SystemError) {
        self.handler = handler
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try SystemError.check(call, unsafe add(&pointer, userdata))
        unsafe expectSuccess(sd_event_source_set_exit_on_failure(pointer, 1))
    }

    deinit { unsafe sd_event_source_disable_unref(pointer) }

    /// Turns userdata back into the source that it is the address of, and calls the source's handler.
    ///
    /// Returns 0 always: after a negative result sd-event would turn the source off for good. (`exit_on_failure` is set
    /// in case a callback is written without this function: the daemon then ends, and is restarted.)
    static func deliver(_ event: Event, to userdata: UnsafeMutableRawPointer?) -> Int32 {
        guard let userdata = unsafe userdata else { return 0 }
        let source = unsafe Unmanaged<EventSource>.fromOpaque(userdata).takeUnretainedValue()
        withExtendedLifetime(source) { source.handler(event) }
        return 0
    }

    /// Has the loop dispatch it after, or before, the sources of another priority that are pending too.
    func setPriority(_ priority: EventLoop.Priority) {
        unsafe expectSuccess(sd_event_source_set_priority(pointer, priority.rawValue))
    }

    /// Turns the source on: for one event, or for each.
    func turnOn(once: Bool) {
        let mode = once ? SD_EVENT_ONESHOT : SD_EVENT_ON
        unsafe expectSuccess(sd_event_source_set_enabled(pointer, Int32(mode)))
    }

    /// Stops it until it is turned on again; a pending event is forgotten.
    func turnOff() {
        unsafe expectSuccess(sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF)))
    }

    /// Lends the C source for one call, for functions that only one kind of source has.
    func withPointer(_ call: (OpaquePointer?) -> Int32) -> Int32 { unsafe call(pointer) }
}
