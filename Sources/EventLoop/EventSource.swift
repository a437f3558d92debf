import CSystemd
import Glibc

/// Something that can happen on a loop. It stops happening when the object goes.
///
/// Whoever holds a source may drop it inside its own handler: it is kept until the handler returns.
@safe
package class EventSource {
    private let loop: EventLoop
    private var handle: OpaquePointer?

    init(on loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        unsafe sd_event_source_disable_unref(handle)
    }

    /// Makes the source by `add`, which gets the loop, the place of the handle and the userdata.
    func attach(
        _ call: String,
        _ add: (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer)
            -> Int32
    ) throws(LoopError) {
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try valueOrError(call, unsafe add(loop.handle, &handle, userdata))
        // A backstop: handlers return 0, for a negative result would disable the source silently.
        try valueOrError(call, unsafe sd_event_source_set_exit_on_failure(handle, 1))
    }

    func enable(_ isOn: IsOn) {
        // The one error is a loop that has ended, where nothing is to happen any more.
        unsafe sd_event_source_set_enabled(handle, isOn.rawValue)
    }

    /// Sets what a descriptor is watched for, in bits of epoll_ctl(2).
    func setEvents(_ events: UInt32) {
        // It can fail only for a descriptor that is not open any more, where nothing happens either.
        unsafe sd_event_source_set_io_events(handle, events)
    }

    /// Sets the time of a timer, in microseconds of its clock.
    func setTime(_ microseconds: UInt64) {
        unsafe sd_event_source_set_time(handle, microseconds)
    }
}

/// Whether a source may happen: not now, once, or whenever it does.
enum IsOn: Int32 {
    case never = 0
    case always = 1
    case once = -1
}

/// The one place where userdata becomes an object again. The object is held until `body` returns, so
/// that a handler may drop it.
///
/// Gives 0, always: a negative result would disable the source for good, and silently.
func dispatch<Source: EventSource>(
    _ userdata: UnsafeMutableRawPointer?, _ kind: Source.Type, _ body: (Source) -> Void
) -> Int32 {
    guard let userdata = unsafe userdata else { return 0 }
    let source = unsafe Unmanaged<Source>.fromOpaque(userdata).takeUnretainedValue()
    withExtendedLifetime(source) { body(source) }
    return 0
}
