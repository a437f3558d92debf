import CSystemd
import CivilTime
package import EventLoop
import Faults
import Glibc

/// A connection to a message bus, sd-bus(3) on the loop: calls that do not wait, and signals.
///
/// Nothing here blocks: the connection is made and greeted on the loop, a call is queued until then,
/// and every call has a time after which it has failed, counted from the greeting; a greeting that does
/// not come is a lost connection after sd-bus's own 90 seconds. A connection that broke is not mended: drop
/// it and make another one.
@safe
package final class Bus {
    private let pointer: OpaquePointer
    private let loop: EventLoop
    private var disconnection: Match?

    /// The system's bus, as D-Bus specifies its address.
    package static let systemAddress = "unix:path=/run/dbus/system_bus_socket"

    /// Begins to connect. `onLoss` is called once, when the connection is over, in whatever way.
    package init(
        _ loop: EventLoop, address: String = systemAddress, onLoss: @escaping () -> Void
    ) throws(BusError) {
        self.loop = loop
        var made: OpaquePointer?
        try check("make a bus connection", unsafe sd_bus_new(&made))
        guard let pointer = unsafe made else {
            throw BusError("make a bus connection", code: ENOMEM)
        }
        unsafe self.pointer = pointer
        let call = "connect to the bus"
        try check(call, unsafe sd_bus_set_address(pointer, address))
        try check(call, unsafe sd_bus_set_bus_client(pointer, 1))
        try check(call, unsafe sd_bus_start(pointer))
        try check(call, unsafe loop.attach { unsafe sd_bus_attach_event(pointer, $0, 0) })
        disconnection = try Match(
            self,
            "type='signal',sender='org.freedesktop.DBus.Local',"
                + "interface='org.freedesktop.DBus.Local',member='Disconnected'"
        ) { _ in onLoss() }
    }

    /// Never waits for what is still to be sent.
    deinit { unsafe sd_bus_close_unref(pointer) }

    /// Makes a call and gives its answer later, from the loop; a call that cannot even be queued throws.
    /// A connection that is dropped answers nothing any more.
    package func call(
        _ call: Call, within limit: Duration = .seconds(30),
        answer: @escaping (Result<Message, BusError>) -> Void
    ) throws(BusError) {
        let message = try unsafe call.message(on: pointer)
        defer { unsafe sd_bus_message_unref(message) }
        try unsafe PendingCall.send(
            message, on: pointer, called: call.purpose, limit: limit, answer: answer)
    }

    func withPointer(_ body: (OpaquePointer) -> Int32) -> Int32 { unsafe body(pointer) }
}

/// Turns the result of a C call into a Swift value or error.
@discardableResult
func check(_ call: String, _ result: Int32) throws(BusError) -> Int32 {
    guard result >= 0 else { throw BusError(call, code: -result) }
    return result
}

extension BusError {
    init(_ call: String, code: Int32) {
        self.init(call: call, name: nil, message: SystemError.text(of: code))
    }
}
