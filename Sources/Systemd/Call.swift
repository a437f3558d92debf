import CSystemd
import CivilTime

/// A method call, with arguments of the types that systemd's manager asks for.
package struct Call {
    /// An argument of a call.
    package enum Argument {
        case text(String)
        case texts([String])
        /// Unsigned, of 32 bits.
        case number(UInt32)
        case flag(Bool)
    }

    let purpose: String
    let destination: String
    let path: String
    let interface: String
    let member: String
    let arguments: [Argument]

    /// `purpose` names the call in errors, verb and object.
    package init(
        _ purpose: String, to destination: String, path: String, interface: String, member: String,
        _ arguments: [Argument] = []
    ) {
        self.purpose = purpose
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// The message, which the caller has to release.
    func message(on bus: OpaquePointer) throws(BusError) -> OpaquePointer? {
        var message: OpaquePointer?
        try check(
            purpose,
            unsafe sd_bus_message_new_method_call(
                bus, &message, destination, path, interface, member))
        for argument in arguments {
            let result =
                switch argument {
                case .text(let text):
                    unsafe text.withCString {
                        unsafe sd_bus_message_append_basic(message, type("s"), $0)
                    }
                case .number(var number):
                    unsafe withUnsafePointer(to: &number) {
                        unsafe sd_bus_message_append_basic(message, type("u"), $0)
                    }
                case .flag(let flag):
                    // A boolean of sd-bus is an int.
                    unsafe withUnsafePointer(to: Int32(flag ? 1 : 0)) {
                        unsafe sd_bus_message_append_basic(message, type("b"), $0)
                    }
                case .texts(let texts): unsafe Self.append(texts, to: message)
                }
            if result < 0 {
                unsafe sd_bus_message_unref(message)
                throw BusError(purpose, code: -result)
            }
        }
        return unsafe message
    }

    private static func append(_ texts: [String], to message: OpaquePointer?) -> Int32 {
        var result = unsafe sd_bus_message_open_container(message, type("a"), "s")
        for text in texts where result >= 0 {
            result = unsafe text.withCString {
                unsafe sd_bus_message_append_basic(message, type("s"), $0)
            }
        }
        return result < 0 ? result : unsafe sd_bus_message_close_container(message)
    }
}

/// The letter of a type as a C character.
func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

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

    /// Sends a message. `answer` is called once, from the loop, unless the connection is dropped before.
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

    /// Always returns 0: a negative result would end the connection.
    private static func deliver(
        _ message: OpaquePointer?, to userdata: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let userdata = unsafe userdata, let message = unsafe message else { return 0 }
        let call = unsafe Unmanaged<PendingCall>.fromOpaque(userdata).takeUnretainedValue()
        let received = unsafe Message(message)
        call.answer(received.failure(of: call.purpose).map { .failure($0) } ?? .success(received))
        return 0
    }
}
