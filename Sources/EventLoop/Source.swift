import CSystemd

/// One event source of the C loop, and the only place that owns one.
///
/// Whoever holds it may drop it at any time, inside its own handler too: it is kept alive until
/// that returns, and is never called again.
@safe
final class Source<Event> {
    /// Nil only while `init` runs: the C source wants the address of this object first.
    private var pointer: OpaquePointer?
    private let handler: (Event) -> Void

    /// Adds a source to the loop.
    ///
    /// `add` is one of the `sd_event_add_…` calls: it sets the source, hands the userdata on, and
    /// gives as its callback a closure that makes an `Event` of what C tells and returns
    /// `deliver(_:to:)`.
    init(
        _ call: String, handler: @escaping (Event) -> Void,
        add: (inout OpaquePointer?, UnsafeMutableRawPointer) -> Int32
    ) throws(LoopError) {
        self.handler = handler
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(call, unsafe add(&pointer, userdata))
        unsafe expectSuccess(sd_event_source_set_exit_on_failure(pointer, 1))
    }

    deinit { unsafe sd_event_source_disable_unref(pointer) }

    /// Turns userdata into the object that gave it, and calls its handler.
    ///
    /// Returns 0, always: after anything negative sd-event would turn the source off for good.
    /// (`exit_on_failure` is there in case somebody writes a callback without this function: the
    /// daemon then ends and is restarted, instead of sitting there deaf.)
    static func deliver(_ event: Event, to userdata: UnsafeMutableRawPointer?) -> Int32 {
        guard let userdata = unsafe userdata else { return 0 }
        let source = unsafe Unmanaged<Source>.fromOpaque(userdata).takeUnretainedValue()
        withExtendedLifetime(source) { source.handler(event) }
        return 0
    }

    /// Lets it fire: for one event, or for each.
    func turnOn(once: Bool) {
        let mode = once ? SD_EVENT_ONESHOT : SD_EVENT_ON
        unsafe expectSuccess(sd_event_source_set_enabled(pointer, Int32(mode)))
    }

    /// Lets it fire no more until it is turned on again; what was pending is forgotten.
    func turnOff() {
        unsafe expectSuccess(sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF)))
    }

    /// Calls C with the source, for what only one kind of source can do.
    func withPointer(_ call: (OpaquePointer?) -> Int32) -> Int32 {
        unsafe call(pointer)
    }
}
