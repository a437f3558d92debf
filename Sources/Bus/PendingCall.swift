import CSystemd
import CivilTime

/// A call whose answer is waited for. It belongs to its slot: sd-bus releases it once the call is
/// answered, has timed out, or the connection is gone.
@safe
final class PendingCall {
    private let purpose: String
    private let answer: (Result<Message, BusError>) -> Void

    private init(_ purpose: String, _ answer: @escaping (Result<Message, BusError>) -> Void) {
        self.purpose = purpose
        self.answer = answer
    }

    static func send(
        _ message: OpaquePointer?, on bus: OpaquePointer, called purpose: String, limit: Duration,
        answer: @escaping (Result<Message, BusError>) -> Void
    ) throws(BusError) {
        let userdata = unsafe Unmanaged.passRetained(PendingCall(purpose, answer))
        var slot: OpaquePointer?
        let result = unsafe sd_bus_call_async(
            bus, &slot, message,
            { message, userdata, _ in unsafe PendingCall.deliver(message, to: userdata) },
            userdata.toOpaque(), UInt64(max(limit.microseconds, 1)))
        guard result >= 0 else {
            unsafe userdata.release()
            throw BusError(purpose, code: -result)
        }
        unsafe sd_bus_slot_set_destroy_callback(slot) { userdata in
            guard let userdata = unsafe userdata else { return }
            unsafe Unmanaged<PendingCall>.fromOpaque(userdata).release()
        }
        // From here on the slot lives as long as the connection or the call, whichever ends first.
        unsafe sd_bus_slot_set_floating(slot, 1)
        unsafe sd_bus_slot_unref(slot)
    }

    /// Returns 0, always: what goes wrong in an answer is no reason to break the connection.
    private static func deliver(
        _ message: OpaquePointer?, to userdata: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let userdata = unsafe userdata, let message = unsafe message else { return 0 }
        let call = unsafe Unmanaged<PendingCall>.fromOpaque(userdata).takeUnretainedValue()
        let received = unsafe Message(message)
        if let failure = received.failure(of: call.purpose) {
            call.answer(.failure(failure))
        } else {
            call.answer(.success(received))
        }
        return 0
    }
}
